import { always, type CarrierRow } from './carrier.ts'

/** Tools that make, convert or show documents, pictures and records. */
export const documentTools: readonly (readonly [string, CarrierRow])[] = [
  ['gs ghostscript', { code: ['-c', '-dNOSAFER', '-dDELAYSAFER'], word: /%pipe%/ }],
  ['groff troff nroff pic tbl eqn', { code: ['-U'] }],
  ['cowsay cowthink', { code: ['-f'] }],
  ['gimp', { code: ['-b', '--batch'] }],
  ['tshark wireshark', { code: ['-X'], values: 'abcdeEfFGiKmnNorRsStTuwyYz' }],
  [
    'mpv',
    { code: ['--script', '--scripts', '--include', '--config-dir', '--input-conf', '--input-ipc-server'] },
  ],
  [
    'lynx w3m links elinks',
    { code: ['-cfg', '-lss', '-config', '-o', '-eval', '-config-file', '-config-dir'] },
  ],
  ['asciidoctor', { code: ['-r', '--require', '-T', '--template-dir'] }],
  [
    'latexmk',
    { code: ['-e', '-r', '-pdflatex', '-latex'], unread: always('its settings may run any command') },
  ],
  ['xdg-open gio', { unread: always('it starts the program that settings name') }],
  [
    'latex pdflatex xelatex lualatex tex pdftex luatex',
    { code: ['-shell-escape', '--shell-escape', '-enable-write18'], word: /write18|input\|/ },
  ],
  [
    'pandoc',
    { command: ['-F', '--filter', '--pdf-engine'], code: ['-L', '--lua-filter'], values: 'fortwVMHBATc' },
  ],
]
