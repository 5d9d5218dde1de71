/** How to find the command within a command that runs another. */
export interface Wrapper {
  /** Letters of flags without and with a value. */
  readonly flags: string
  readonly values: string
  readonly longFlags: readonly string[]
  readonly longValues: readonly string[]
  /** With one of these letters nothing is run. */
  readonly idle: string
  /** Arguments before the command. */
  readonly operands: number
  /** `NAME=value` may stand before the command. */
  readonly assigns: boolean
  /** `only-runs` does nothing besides. `acts` matters in itself. `feeds` adds arguments that are not known. */
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
    assigns: false,
    effect: 'only-runs',
    ...settings,
  }
}

export const wrappers: ReadonlyMap<string, Wrapper> = new Map([
  ['builtin', wrapper({})],
  ['busybox', wrapper({ effect: 'acts' })],
  ['command', wrapper({ flags: 'p', idle: 'vV' })],
  ['doas', wrapper({ flags: 'n', values: 'uC', effect: 'acts' })],
  [
    'env',
    wrapper({
      flags: 'iv0',
      values: 'uC',
      longFlags: ['--ignore-environment', '--debug', '--null'],
      longValues: ['--unset', '--chdir'],
      assigns: true,
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
      assigns: true,
      effect: 'acts',
    }),
  ],
  ['time', wrapper({ flags: 'pvaq', values: 'f', assigns: true })],
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
