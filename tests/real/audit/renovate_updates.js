// What Renovate's own code proposes for the images of manifests, with packageRules and lists of tags, as JSON:
//     node renovate_updates.js FOLDER < {"rules": {..}, "manifests": "..", "tags": {"name": ["1.0", ..]}}
//     {"name:1.0": ["1.1", ..]}
// FOLDER: of the package renovate. It extracts, applies the rules and filters the versions; it asks nobody.
const path = require("path");

const of = (name) => require(path.join(process.argv[2], "dist", name));
const { extractPackageFile } = of("modules/manager/kubernetes/extract");
const { applyPackageRules } = of("util/package-rules");
const { filterVersions } = of("workers/repository/process/lookup/filter");
const docker = of("modules/versioning/docker").default;

let text = "";
process.stdin.on("data", (part) => (text += part));
process.stdin.on("end", async () => {
  const { rules, manifests, tags } = JSON.parse(text);
  const proposed = {};
  for (const found of extractPackageFile(manifests, "manifests.yaml", {}).deps) {
    if (!found.depName || !found.currentValue) continue;
    const named = { packageName: found.depName, ...found, packageRules: rules.packageRules };
    const config = { ...(await applyPackageRules(named)), ignoreUnstable: true };
    const releases = (tags[found.depName] ?? []).map((version) => ({ version }));
    const versions = filterVersions(config, found.currentValue, undefined, releases, docker);
    proposed[`${found.depName}:${found.currentValue}`] = versions.map((one) => one.version);
  }
  process.stdout.write(JSON.stringify(proposed));
});
