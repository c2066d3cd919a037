// The shell commands of a declarative Jenkinsfile, one JSON string a line, as Groovy of Jenkins' own version reads it.
// A word that does not stand in WORDS of its section is an error.
import groovy.json.JsonOutput

class Section {
  static final WORDS = [
    file: ['pipeline'],
    pipeline: ['agent', 'stages', 'post', 'options', 'environment'],
    stages: ['stage'],
    stage: ['agent', 'steps', 'post', 'when', 'environment'],
    steps: ['sh'],
  ]
  final String name

  Section(String name) { this.name = name }

  def propertyMissing(String word) { word }

  def invokeMethod(String word, Object given) {
    if (!(word in WORDS[name])) throw new IllegalArgumentException("${name}: no ${word}")
    if (word == 'sh') println JsonOutput.toJson(given[0])
    def body = given[-1]
    if (body instanceof Closure) {
      body.delegate = new Section(word)
      body.resolveStrategy = Closure.DELEGATE_ONLY
      body()
    }
  }
}

def script = new GroovyShell().parse(new File(args[0]))
script.metaClass.methodMissing = { String word, given -> new Section('file').invokeMethod(word, given) }
script.run()
