"""cdk8s: what the app synthesises is placed before it is applied.

pip install cdk8s cdk8s-plus-32 archfit
python cdk8s_chart.py && kubectl apply -f dist/
"""

from pathlib import Path

from cdk8s import App, Chart
from cdk8s_plus_32 import ContainerProps, Deployment

import archfit

app = App()
chart = Chart(app, "shop")
Deployment(chart, "web", containers=[ContainerProps(image="nginx:1.27", port_number=80)])

app.synth()
for path in Path(app.outdir).glob("*.yaml"):
    path.write_text(archfit.transform(path.read_text()).manifests)
