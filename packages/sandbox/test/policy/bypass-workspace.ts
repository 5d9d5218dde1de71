import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const script = "#!/bin/sh\ntouch '{root}/ran'\n"
const gitConfig = "[alias]\n\tx = !touch '{root}/ran'\n"
const npmScripts = ['touch', 'test', 'start', 'stop', 'restart', 'preinstall', 'prepack', 'preversion']

/** Runs the denied program in the folder of its process as soon as it is loaded. */
const library = `#include <stdlib.h>
__attribute__((constructor)) static void start(void) {
  unsetenv("LD_PRELOAD");
  unsetenv("LD_AUDIT");
  system("touch ran");
}
unsigned la_version(unsigned version) { return version; }
`

/** The files that the bypasses use. Each one that runs leaves the file `ran`; `{root}` is the folder. */
const files: Readonly<Record<string, string>> = {
  'README.md': 'hello\nchanged\n',
  names: 'ran\n',
  big: 'x\n'.repeat(50_000),
  'nothing.sh': ':\n',
  'touch-me': script,
  't.sh': script,
  'touch.sh': script,
  'bash-script': '#!/bin/bash\n:\n',
  'bash-ls': '#!/bin/bash\nls\n',
  'bin/git': script,
  'bin/ls': script,
  'bin/cat': script,
  'parts/x': script,
  'gitexec/git-foo': script,
  'gccbin/cc1': script,
  'gccbin/as': script,
  'touch.args': '-wrapper {root}/touch.sh\n',
  'touch.specs': '%rename cpp_options old_cpp_options\n*cpp_options:\n%(old_cpp_options)\n',
  'zdot/.zshenv': "touch '{root}/ran'\n",
  'home/.zshenv': "touch '{root}/ran'\n",
  'home/.profile': "touch '{root}/ran'\n",
  'home/.bash_profile': "touch '{root}/ran'\n",
  'home/.gitconfig': gitConfig,
  'xdg/git/config': gitConfig,
  'fresh/.keep': '',
  gitconfig: gitConfig,
  'ok.js': '\n',
  'ok.py': '\n',
  'ok.pl': '1;\n',
  'ok.c': 'int main(void) { return 0; }\n',
  'touch.js':
    'require("child_process").execSync("touch \'{root}/ran\'", { env: { PATH: process.env.PATH } })\n',
  'touch.mjs':
    'import { execSync } from "node:child_process"; execSync("touch \'{root}/ran\'", { env: { PATH: process.env.PATH } })\n',
  'touch.py': 'import os\nos.system("touch \'{root}/ran\'")\n',
  'pylib/sitecustomize.py': 'import os\nos.system("touch \'{root}/ran\'")\n',
  'perllib/touch.pm': 'package touch; system("touch", "{root}/ran"); 1;\n',
  'touch.pl': '#!/usr/bin/perl\nsystem("touch", "{root}/ran");\n',
  'touch.awk': 'BEGIN { system("touch \'{root}/ran\'") }\n',
  'touch.sed': "1e touch '{root}/ran'\n",
  'touch.vim': "!touch '{root}/ran'\n",
  'touch.gdb': "shell touch '{root}/ran'\n",
  'touch.tcl': 'exec touch {root}/ran\n',
  'touch.m4': 'syscmd(touch {root}/ran)\n',
  'touch.cmake': 'execute_process(COMMAND touch {root}/ran)\n',
  'touch.ninja': 'rule t\n  command = touch ran\nbuild ran: t\n',
  'touch.cron': '* * * * * touch ran\n',
  'touch.less': '#command\nx shell touch ran\\n\n',
  Makefile: 'touch:\n\ttouch ran\ntouch2:\n\t+touch ran\nok:\n\ttrue\n',
  'sub/Makefile': "touch:\n\ttouch '{root}/ran'\n",
  'evil.mk': 'all:\n\ttouch ran\n',
  'touch.mk': 'all:\n\ttouch ran\n',
  'include.mk': 'include evil.mk\n',
  'empty.mk': 'nothing:\nall:\n\ttrue\n',
  'var.mk': 'all:\n\t$(CMD)\n',
  'cc.mk': 'all:\n\t$(CC) $(CFLAGS) --version\n',
  'evil.npmrc': 'script-shell={root}/touch.sh\n',
  'package.json': JSON.stringify({
    name: 'x',
    version: '1.0.0',
    scripts: { ok: 'true', ...Object.fromEntries(npmScripts.map((name) => [name, "touch '{root}/ran'"])) },
  }),
  ssh_config: "Host *\n  ProxyCommand touch '{root}/ran'\n",
  batch: '!touch ran\n',
  'evil.git/config': '[core]\n\tfsmonitor = {root}/touch.sh\n\tworktree = {root}\n',
  ...Object.fromEntries(
    ['pre-commit', 'post-checkout', 'post-merge', 'pre-rebase'].flatMap((hook) => [
      [`hooks/${hook}`, script],
      [`template/hooks/${hook}`, script],
    ]),
  ),
}

/** Writes a workspace with a git repository and a library to preload; they are made once and copied. */
export class BypassWorkspaces {
  readonly #repository: string

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'vitrine-bypasses-'))
    const git = (...args: string[]) =>
      execFileSync(
        'git',
        ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main', ...args],
        {
          cwd: folder,
          stdio: 'pipe',
        },
      )
    git('init', '--template=', '-q')
    for (const text of ['one\n', 'hello\n']) {
      writeFileSync(join(folder, 'README.md'), text)
      git('add', '-A')
      git('commit', '-qm', 'x')
    }
    git('branch', 'other')
    git('config', 'user.name', 'a')
    git('config', 'user.email', 'a@b')
    this.#repository = folder
    execFileSync('tar', ['cf', 'a.tar', 'README.md'], { cwd: folder })
    writeFileSync(join(folder, 'touch.c'), library)
    execFileSync('gcc', ['-shared', '-fPIC', '-o', 'touch.so', 'touch.c'], { cwd: folder, stdio: 'pipe' })
  }

  /** Makes a folder in the workspace of a sandbox, for its user. */
  create(parent: string, name: string): string {
    const root = join(parent, name)
    cpSync(join(this.#repository, '.git'), join(root, '.git'), { recursive: true })
    cpSync(join(this.#repository, '.git'), join(root, 'evil.git'), { recursive: true })
    for (const [path, text] of Object.entries(files)) {
      const file = join(root, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text.replaceAll('{root}', root))
      if (text.startsWith('#!')) chmodSync(file, 0o755)
    }
    cpSync(join(this.#repository, 'a.tar'), join(root, 'a.tar'))
    cpSync(join(this.#repository, 'touch.so'), join(root, 'touch.so'))
    execFileSync('chown', ['-R', `--reference=${parent}`, root])
    return root
  }
}
