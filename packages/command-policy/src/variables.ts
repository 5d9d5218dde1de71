/**
 * Variables that change which program a name resolves to, or what a program loads and runs before its own work. They are
 * matched by naming pattern, since new ones follow the old names.
 */
const loaders: readonly RegExp[] = [
  /PATH$/i,
  /(OPTIONS|OPTS|FLAGS)$/i,
  /(COMMAND|WRAPPER|EDITOR|PAGER|SHELL|BROWSER|ASKPASS|CMD|EXEC)$/i,
  /^(LD|DYLD|BASH|GIT|PERL|PYTHON|RUBY|NODE|JAVA|_JAVA|JDK|LESS|MAKE|DOCKER|SUDO|SSH)_/i,
  /^(npm|pnpm|yarn)_config_/i,
  /^(PERL5|RUBY|PYTHON)/i,
  /^(IFS|ENV|HOME|PS[0-4]|PROMPT|VISUAL|LESSOPEN|LESSCLOSE|ZDOTDIR|GLOBIGNORE|CC|CXX|LD|AR|POSIXLY_CORRECT)$/,
]

/** Variables that are set often and are harmless: asking each time would train people to ignore the question. */
const harmless = new Set([
  'NODE_ENV',
  'PYTHONUNBUFFERED',
  'PYTHONDONTWRITEBYTECODE',
  'PYTHONIOENCODING',
  'PYTHONUTF8',
])

/** Whether a variable changes which program runs or what it loads. */
export function isLoaderVariable(name: string): boolean {
  return !harmless.has(name) && loaders.some((loader) => loader.test(name))
}
