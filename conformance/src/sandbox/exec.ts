import type { ExecOptions, ReadOptions, WriteOptions } from '@vitrine/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { attempt } from '../waiting/attempt.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from './kit.ts'

export function execCases(make: MakeSandbox): void {
  describe('exec', () => {
    const shared = sharedSandbox(make)

    it('runs a string in a shell', async () => {
      const { sandbox } = await shared()
      expect(await sandbox.exec('x=$((6 * 7)); echo $x | tr 4 5')).toMatchObject({
        outcome: 'ok',
        exitCode: 0,
        signal: null,
        stdout: '52\n',
        stderr: '',
        truncated: false,
      })
    })

    it('runs an array as given, without a shell', async () => {
      const { sandbox } = await shared()
      const { stdout } = await sandbox.exec(['printf', '%s|', 'a b', '$HOME', '*', '', 'é€', ';'])
      expect(stdout).toBe('a b|$HOME|*||é€|;|')
    })

    it('runs a string in the given shell', async () => {
      const { sandbox } = await shared()
      const login = await sandbox.exec('[[ abc == a* ]] && shopt -q login_shell && echo login', {
        shell: ['bash', '-lc'],
      })
      expect(login.stdout).toContain('login')
      expect((await sandbox.exec('shopt -q login_shell || echo plain', { shell: 'bash' })).stdout).toBe(
        'plain\n',
      )
      expect((await sandbox.exec('print 6', { shell: ['awk', 'BEGIN { print 7 }'] })).stdout).toBe('7\n')
    })

    it.each([
      ['an empty list', []],
      ['an empty program name', ['']],
      ['a NUL in a text', 'echo a\0b'],
      ['a NUL in a list', ['echo', 'a\0b']],
    ])('refuses a command with %s', async (_name, command) => {
      const { sandbox } = await shared()
      await expect(attempt(() => sandbox.exec(command))).rejects.toMatchObject({ code: 'argument_invalid' })
      expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
    })

    it('refuses an invalid time limit', async () => {
      const { sandbox } = await shared()
      for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
        await expect(attempt(() => sandbox.exec('true', { timeoutMs }))).rejects.toMatchObject({
          code: 'argument_invalid',
        })
    })

    it('refuses an unknown option, and suggests the right one', async () => {
      const { sandbox } = await newSandbox(make)
      const misspelt = [
        [{ timeout: 5_000 }, 'unknown key "timeout"; did you mean "timeoutMs"?'],
        [{ workdir: '/tmp' }, 'unknown key "workdir"'],
        [{ timeoutMs: '300' }, 'got "300", a string; give it as a number'],
      ] as const
      for (const [options, message] of misspelt)
        await expect(attempt(() => sandbox.exec('true', options as ExecOptions))).rejects.toMatchObject({
          code: 'argument_invalid',
          message: expect.stringContaining(message),
        })
      const parent = { parent: true } as WriteOptions
      await expect(attempt(() => sandbox.files.write('a/b', 'x', parent))).rejects.toMatchObject({
        code: 'argument_invalid',
        message: expect.stringContaining('unknown key "parent"; did you mean "parents"?'),
      })
      const type = { type: ['file.*'] } as ReadOptions
      await expect(attempt(() => sandbox.journal.read(type))).rejects.toMatchObject({
        code: 'argument_invalid',
        message: expect.stringContaining('unknown key "type"; did you mean "types"?'),
      })
    })

    it('starts in the workspace, or in the given directory below it, in HOME or in /tmp', async () => {
      const { sandbox } = await shared()
      const { root } = sandbox
      await sandbox.exec('mkdir -p sub/deep')
      const workingDirectory = async (cwd?: string) =>
        (await sandbox.exec('pwd -P', cwd === undefined ? {} : { cwd })).stdout.trimEnd()
      const home = (await sandbox.exec('echo "$HOME"')).stdout.trimEnd()
      expect(await workingDirectory()).toBe(root)
      expect(await workingDirectory('.')).toBe(root)
      expect(await workingDirectory('sub')).toBe(`${root}/sub`)
      expect(await workingDirectory('sub/deep/..')).toBe(`${root}/sub`)
      expect(await workingDirectory(`${root}/sub/deep`)).toBe(`${root}/sub/deep`)
      expect(await workingDirectory('/tmp')).toBe('/tmp')
      expect(await workingDirectory(home)).toBe(home)
    })

    it('refuses a missing working directory', async () => {
      const { sandbox } = await shared()
      await sandbox.exec(': > file')
      for (const cwd of ['missing', 'missing/deeper', 'file', `${sandbox.root}/missing`])
        await expect(sandbox.exec('echo no > ran', { cwd })).rejects.toMatchObject({ code: 'cwd_not_found' })
      expect((await sandbox.exec('ls')).stdout).toBe('file\n')
    })

    it('refuses a working directory outside the sandbox', async () => {
      const { sandbox } = await shared()
      for (const cwd of ['/etc', '/', '..', '../..', `${sandbox.root}/..`, `${sandbox.root}-other`])
        await expect(sandbox.exec('true', { cwd })).rejects.toMatchObject({ code: 'cwd_outside' })
      await expect(sandbox.exec('true', { cwd: 'a\0b' })).rejects.toMatchObject({ code: 'argument_invalid' })
    })

    it('passes the given variables exactly', async () => {
      const { sandbox } = await shared()
      const env = { PLAIN: '1', EMPTY: '', ODD: ' a=b\n"é€\' $HOME ' }
      const { stdout } = await sandbox.exec(
        'printf "%s|%s|%s|" "$PLAIN" "$(printenv EMPTY || echo unset)" "$ODD"',
        { env },
      )
      expect(stdout).toBe(`1||${env.ODD}|`)
      expect((await sandbox.exec('printenv PLAIN || echo unset')).stdout).toBe('unset\n')
    })

    it.each([
      ['a NUL in a value', { A: 'a\0b' }],
      ['a NUL in a name', { 'A\0B': 'x' }],
      ['a name with an equals sign', { 'A=B': 'x' }],
      ['a variable without a name', { '': 'x' }],
    ])('refuses an environment with %s', async (_name, env) => {
      const { sandbox } = await shared()
      await expect(sandbox.exec('true', { env })).rejects.toMatchObject({ code: 'environment_invalid' })
    })

    it("does not pass the host's variables to commands", async () => {
      setVariable('VITRINE_KIT_SECRET', 'kit-secret-value')
      setVariable('AWS_SECRET_ACCESS_KEY', 'kit-secret-value')
      const { sandbox } = await newSandbox(make)
      const own = await sandbox.exec('env; tr "\\0" "\\n" < /proc/self/environ')
      expect(own.stdout).toContain('PATH=')
      expect(own.stdout).not.toContain('kit-secret-value')
      if (sandbox.capabilities.isolation === 'none') return
      const others = await sandbox.exec(
        'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"',
      )
      expect(others.stdout).not.toContain('kit-secret-value')
    })

    it('feeds input from a string, from bytes and from a stream, to its end', async () => {
      const { sandbox } = await shared()
      const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251)
      expect((await sandbox.exec('cat', { stdin: 'é€\nno break at the end' })).stdout).toBe(
        'é€\nno break at the end',
      )
      expect((await sandbox.exec('wc -c', { stdin: bytes })).stdout.trim()).toBe('300000')
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += 50_000)
            controller.enqueue(bytes.subarray(at, at + 50_000))
          controller.close()
        },
      })
      const summed = await sandbox.exec('cksum', { stdin: stream })
      expect(summed.stdout).toBe((await sandbox.exec('cksum', { stdin: bytes })).stdout)
      expect((await sandbox.exec('cat; echo end')).stdout).toBe('end\n')
    })

    it('returns the exit code of a program that does not read its input', async () => {
      const { sandbox } = await shared()
      const endless = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
      })
      expect(await sandbox.exec('exit 3', { stdin: 'x'.repeat(2_000_000) })).toMatchObject({ exitCode: 3 })
      expect(await sandbox.exec('exit 4', { stdin: endless })).toMatchObject({ exitCode: 4 })
    })

    it('does not report success when the input stream fails', async () => {
      const { sandbox } = await shared()
      const broken = new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.enqueue(new TextEncoder().encode('half'))
          controller.error(new Error('the source broke off'))
        },
      })
      const ending = await sandbox.exec('cat > /dev/null', { stdin: broken }).then(
        ({ outcome }) => outcome,
        () => 'thrown',
      )
      expect(ending).not.toBe('ok')
    })

    it('refuses an unknown user', async () => {
      const { sandbox } = await shared()
      await expect(sandbox.exec('true', { user: 'no-such-user' })).rejects.toMatchObject({
        code: 'user_unknown',
      })
    })

    it('refuses a program that does not exist', async () => {
      const { sandbox } = await shared()
      for (const name of ['no-such-program', './no-such-program', '/no/such/program'])
        await expect(sandbox.exec([name])).rejects.toMatchObject({
          code: 'command_not_found',
          retryable: false,
        })
      expect(await sandbox.exec('no-such-program')).toMatchObject({ outcome: 'failed', exitCode: 127 })
    })

    it('refuses a program that cannot be executed', async () => {
      const { sandbox } = await shared()
      await sandbox.exec('echo "echo no" > text; mkdir folder; echo "echo no" > nameless; chmod +x nameless')
      // Without a shebang line only a shell can run a script.
      for (const name of ['./text', './folder', './nameless'])
        await expect(sandbox.exec([name])).rejects.toMatchObject({
          code: 'command_not_executable',
          retryable: false,
        })
    })

    it.each([
      ['one argument', ['true', 'x'.repeat(300_000)]],
      ['a text', `true ${'x'.repeat(300_000)}`],
      ['all arguments together', ['true', ...Array.from({ length: 80 }, () => 'x'.repeat(100_000))]],
    ])('refuses arguments that exceed the limit of the system: %s', async (_name, command) => {
      const { sandbox } = await shared()
      await expect(sandbox.exec(command)).rejects.toMatchObject({
        code: 'argument_invalid',
        retryable: false,
      })
      await expect(sandbox.spawn(command)).rejects.toMatchObject({
        code: 'argument_invalid',
        retryable: false,
      })
      expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
    })
  })
}

/** Sets an environment variable of this process for the duration of one test. */
function setVariable(name: string, value: string): void {
  const before = process.env[name]
  process.env[name] = value
  onTestFinished(() => {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  })
}
