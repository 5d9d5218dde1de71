import { always, type CarrierRow, forPaths, onlyFor, otherThan } from './carrier.ts'

const scripts = 'it runs scripts of the project or of packages, which are not read'
const recipes = 'it runs the recipes of a file, which is not read'
const program = 'it runs a program of the project, which is not read'
const installs = 'packages run their own scripts when they are installed'
const container = 'it runs a command in a container'

const npmReads =
  /^(view|info|show|v|ls|list|ll|la|outdated|help|help-search|search|whoami|ping|root|prefix|bin|why|explain|fund|query|sbom|diff|token|owner|team|org|profile|access|dist-tags?|deprecate|stars?|logout|get|cache|completion)$/

/** Tools that run what the files of a project or of packages say. */
export const projectTools: readonly (readonly [string, CarrierRow])[] = [
  [
    'npm',
    {
      command: [
        '-c',
        '--call',
        '--node-options',
        '--script-shell',
        '--shell',
        '--editor',
        '--viewer',
        '--browser',
      ],
      word: /^--(userconfig|globalconfig|onload-script|init-module|git)(=|$)/,
      values: 'wp',
      runs: /^(exec|x|explore)$/,
      unread: (operands, args) =>
        args.includes('--ignore-scripts') && /^(i|install|ci|add|update)$/.test(operands[0] ?? '')
          ? undefined
          : otherThan(scripts, npmReads)(operands, args),
    },
  ],
  [
    'npx pnpx bunx',
    {
      command: ['-c', '--call', '--shell', '--script-shell', '--node-options', '--node-arg'],
      values: 'pw',
      runs: 'operands',
      unread: always(scripts),
    },
  ],
  [
    'pnpm',
    {
      command: ['-c', '--shell-mode', '--script-shell', '--node-options'],
      values: 'CFw',
      runs: /^(exec|dlx|x)$/,
      unread: otherThan(
        scripts,
        /^(list|ls|la|ll|why|outdated|audit|licenses|root|bin|view|info|store|search|whoami|help)$/,
      ),
    },
  ],
  [
    'yarn yarnpkg',
    {
      command: ['--script-shell', '--use-yarnrc'],
      runs: 'operands',
      unread: otherThan(scripts, /^(info|list|why|outdated|audit|licenses|versions|help)$/),
    },
  ],
  [
    'bun',
    {
      code: ['-e', '--eval', '-p', '--print', '--preload', '-r'],
      runs: /^(x|exec|run)$/,
      unread: otherThan(scripts, /^(pm|outdated|help)$/),
    },
  ],
  [
    'deno',
    {
      code: ['--eval', '-e', '--preload', '--import-map'],
      word: /^(eval|repl)$/,
      unread: otherThan(scripts, /^(fmt|lint|check|doc|info|types|help|completions)$/),
    },
  ],
  [
    'make gmake bmake',
    {
      code: ['--eval', '-E'],
      values: 'CfIjlo',
      word: /^(SHELL|MAKEFLAGS|\.SHELLFLAGS|MAKE)=|^[^=]*=.*\$[({]|^(-f)?-$|^\/dev\/(stdin|fd)/,
      unread: always(recipes),
    },
  ],
  [
    'cmake',
    {
      code: ['-P', '-C', '-E'],
      values: 'BDGSTA',
      word: /^-D.*(LAUNCHER|COMMAND|PROGRAM)/,
      runs: /^-E$/,
      unread: always(recipes),
    },
  ],
  ['rake', { code: ['-e', '--execute', '-E', '-p', '-r', '-R'], values: 'fN', unread: always(recipes) }],
  [
    'just',
    {
      code: ['--shell', '--shell-arg', '-c', '--command', '--evaluate', '--chooser'],
      unread: always(recipes),
    },
  ],
  [
    'ninja samu task jake grunt gulp invoke inv scons bazel buck waf ant mvn mvnw gradle gradlew sbt lein mix meson earthly tup redo tox nox pre-commit turbo nx lerna moon doit snakemake puppet debuild dpkg-buildpackage quilt dune rebar3 easy_install ansible ansible-playbook vagrant packer foreman honcho overmind',
    { unread: always(recipes) },
  ],
  [
    'cargo',
    {
      setting: ['--config'],
      harmlessSetting: /^(net|term|http)\./,
      values: 'pF',
      unread: otherThan(
        program,
        /^(build|b|check|c|test|t|bench|doc|d|clean|fmt|clippy|tree|metadata|search|update|fetch|vendor|info|add|remove|rm|new|init|login|logout|owner|pkgid|locate-project|generate-lockfile|verify-project|version|help)$/,
      ),
    },
  ],
  [
    'go',
    {
      command: ['-exec', '--exec', '-toolexec', '--toolexec', '-vettool', '--vettool'],
      code: ['-overlay', '--overlay'],
      word: /-extld|^(CC|CXX|GOFLAGS)=/,
      unread: otherThan(
        program,
        /^(build|test|vet|fmt|mod|get|list|doc|version|env|clean|help|install|telemetry|work)$/,
      ),
    },
  ],
  [
    'pip',
    {
      command: ['--editor'],
      code: ['--config-settings', '--global-option', '--install-option', '--build-option'],
      unread: onlyFor(installs, /^(install|wheel|download|lock)$/),
    },
  ],
  [
    'gem bundle bundler composer cpan cpanm luarocks opam stack cabal',
    {
      runs: /^(exec|e)$/,
      unread: otherThan(
        scripts,
        /^(list|info|show|search|outdated|check|why|licenses|env|help|query|tree|contents|specification)$/,
      ),
    },
  ],
  [
    'eslint prettier stylelint mocha jest vitest ava karma webpack rollup vite parcel babel postcss',
    {
      code: [
        ...[
          '-c',
          '--config',
          '-r',
          '--require',
          '--import',
          '--loader',
          '--plugin',
          '--plugins',
          '--rulesdir',
        ],
        ...['--resolve-plugins-relative-to', '--setupFiles', '--globalSetup', '--transform', '--environment'],
      ],
    },
  ],
  [
    'pytest py.test',
    { setting: ['-p'], harmlessSetting: /^no:/, code: ['-c', '--config-file', '--rootdir', '--confcutdir'] },
  ],
  ['zig dart flutter', { unread: onlyFor(program, /^(run|build|test|pub|drive)$/) }],
  [
    'dotnet',
    { unread: otherThan(program, /^(build|restore|clean|format|list|add|remove|new|nuget|sln|help)$/) },
  ],
  ['apk pacman port emerge', { unread: forPaths(installs) }],
  ['brew', { runs: /^(exec|sh)$/, unread: forPaths(installs) }],
  [
    'poetry uv pipenv hatch pdm rye conda mamba',
    {
      runs: /^(run|tool)$/,
      unread: otherThan(
        scripts,
        /^(show|check|lock|list|tree|info|search|env|export|version|about|help|python|self|cache|config)$/,
      ),
    },
  ],
  [
    'uvx pipx nodemon tsx ts-node zx concurrently cross-env env-cmd dotenv watchexec entr',
    {
      command: ['-x', '--exec', '-c', '--command'],
      code: ['-e', '--eval', '-p', '--print'],
      runs: 'operands',
      unread: always(scripts),
    },
  ],
  [
    'docker podman nerdctl docker-compose podman-compose',
    {
      code: ['--hooks-dir', '--runtime', '--conmon'],
      values: 'Hflp',
      runs: /^(run|exec|create)$/,
      unread: otherThan(
        container,
        /^(ps|images|image|logs|inspect|version|info|pull|push|tag|login|logout|stop|kill|rm|rmi|top|stats|port|network|volume|system|search|history|diff|events|wait|pause|unpause|rename|down|config|help)$/,
      ),
    },
  ],
  [
    'kubectl oc helm',
    {
      command: ['--post-renderer'],
      code: ['--kubeconfig', '--exec-command'],
      values: 'nfloc',
      runs: /^(exec|run|debug)$/,
      unread: otherThan(
        container,
        /^(get|describe|logs|top|explain|api-resources|api-versions|version|cluster-info|config|diff|auth|wait|events|list|ls|status|history|show|search|repo|template|lint|env|help)$/,
      ),
    },
  ],
  [
    'terraform tofu pulumi',
    {
      unread: otherThan(
        program,
        /^(plan|validate|fmt|show|output|version|providers|state|graph|workspace|help)$/,
      ),
    },
  ],
  [
    'java kotlin',
    {
      code: ['-javaagent', '-agentlib', '-agentpath', '--source'],
      word: /^-XX:On\w+=|^-javaagent:|^-agent(lib|path):/,
      unread: always(program),
    },
  ],
]
