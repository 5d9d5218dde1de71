/** How to find the nested command in the arguments of a program that runs another one. */
export interface Wrapper {
  /** Letters of flags without (`flags`) and with a value (`values`). */
  readonly flags: string
  readonly values: string
  readonly longFlags: readonly string[]
  readonly longValues: readonly string[]
  /** Letters of flags with which nothing is run. */
  readonly idle: string
  /** Number of arguments before the command. */
  readonly operands: number
  /** Assignments may precede the command: with any text before `=`, or with the name of a variable only. */
  readonly assigns: 'any' | 'variables' | 'none'
  /** `-` alone is a flag, and not the command. */
  readonly dash: boolean
  /**
   * `only-runs`: the wrapper has no effect of its own. `acts`: it needs a rule itself. `feeds`: it adds unknown
   * arguments.
   */
  readonly effect: 'only-runs' | 'acts' | 'feeds'
}

function wrapper(settings: Partial<Wrapper>): Wrapper {
  return {
    flags: '',
    values: '',
    longFlags: [],
    longValues: [],
    idle: '',
    operands: 0,
    assigns: 'none',
    dash: false,
    effect: 'only-runs',
    ...settings,
  }
}

export const wrappers: ReadonlyMap<string, Wrapper> = new Map([
  ['builtin', wrapper({})],
  ['busybox', wrapper({ effect: 'acts' })],
  ['busybox-static', wrapper({ effect: 'acts' })],
  ['command', wrapper({ flags: 'p', idle: 'vV' })],
  ['doas', wrapper({ flags: 'n', values: 'uC', effect: 'acts' })],
  [
    'env',
    wrapper({
      flags: 'iv0',
      values: 'uC',
      longFlags: ['--ignore-environment', '--debug', '--null'],
      longValues: ['--unset', '--chdir'],
      assigns: 'any',
      dash: true,
    }),
  ],
  ['exec', wrapper({ flags: 'cl', values: 'a' })],
  [
    'ionice',
    wrapper({ flags: 't', values: 'cn', longFlags: ['--ignore'], longValues: ['--class', '--classdata'] }),
  ],
  ['nice', wrapper({ flags: '0123456789', values: 'n', longValues: ['--adjustment'] })],
  ['nohup', wrapper({})],
  ['setsid', wrapper({ flags: 'cfw', longFlags: ['--ctty', '--fork', '--wait'] })],
  ['stdbuf', wrapper({ values: 'ioe', longValues: ['--input', '--output', '--error'] })],
  [
    'sudo',
    wrapper({
      flags: 'AbEHnPS',
      values: 'CDghpRrTtUu',
      longFlags: [
        '--askpass',
        '--background',
        '--non-interactive',
        '--preserve-env',
        '--set-home',
        '--stdin',
      ],
      longValues: ['--chdir', '--group', '--host', '--preserve-env', '--prompt', '--user'],
      idle: 'KVkv',
      assigns: 'any',
      effect: 'acts',
    }),
  ],
  // In bash, `time` is a keyword whose only flag is -p: after `time -v`, the program is `-v`.
  ['time', wrapper({ flags: 'p', assigns: 'variables' })],
  ['gnu time', wrapper({ flags: 'pvaq', values: 'fo', longFlags: ['--verbose', '--portability'] })],
  [
    'timeout',
    wrapper({
      flags: 'vfp',
      values: 'ks',
      longFlags: ['--foreground', '--preserve-status', '--verbose'],
      longValues: ['--kill-after', '--signal'],
      operands: 1,
    }),
  ],
  ['toybox', wrapper({ effect: 'acts' })],
  [
    'xargs',
    wrapper({
      flags: '0oprtx',
      values: 'adEILnPs',
      longFlags: ['--exit', '--interactive', '--no-run-if-empty', '--null', '--open-tty', '--verbose'],
      longValues: ['--arg-file', '--delimiter', '--max-args', '--max-chars', '--max-procs'],
      effect: 'feeds',
    }),
  ],
])
