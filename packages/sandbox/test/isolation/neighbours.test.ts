import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { putProbe, type Sandbox } from './fixtures/open-host.ts'
import { forEverySandboxUser } from './fixtures/sandbox-users.ts'

/** Addresses of this machine that are not the loopback. */
const addresses = Object.values(networkInterfaces()).flatMap((found = []) =>
  found.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address),
)

forEverySandboxUser(({ userCase, host, sandbox, output }) => {
  let other: Sandbox
  const servers = [createServer(), createServer(), createServer()]
  const paths = { abstract: `\0vitrine-test-${process.pid}-${userCase.name}`, file: '' }
  let port: number

  beforeAll(async () => {
    other = await host().open(userCase.options)
    putProbe(other.root)
    paths.file = join(host().data, 'socket')
    const [tcp, abstract, file] = servers
    await new Promise<void>((resolve) => tcp?.listen(0, '0.0.0.0', resolve))
    await new Promise<void>((resolve) => abstract?.listen(paths.abstract, resolve))
    await new Promise<void>((resolve) => file?.listen(paths.file, resolve))
    const address = tcp?.address()
    port = typeof address === 'object' && address !== null ? address.port : 0
  })
  afterAll(() => {
    for (const server of servers) server.close()
  })

  it("reaches no service on the host's loopback or on its other addresses", async () => {
    expect(await output(`./probe tcp 127.0.0.1 ${port}`)).toBe('ECONNREFUSED')
    for (const address of [...addresses, '10.255.255.1', '169.254.169.254', '1.1.1.1'])
      expect(await output(`./probe tcp ${address} ${port}`), address).toBe('ENETUNREACH')
  })

  it('a sandbox has only a loopback interface', async () => {
    expect(await output("sed -n '3,$s/:.*//p' /proc/net/dev | tr -d ' '")).toBe('lo')
    expect(await output('cat /proc/net/route | tail -n +2')).toBe('')
  })

  it('connects to no unix socket of the host, neither named nor abstract', async () => {
    expect(await output(`./probe connect '@${paths.abstract.slice(1)}'`)).toBe('ECONNREFUSED')
    expect(await output(`./probe connect ${paths.file}`)).toBe('ENOENT')
  })

  it("reads no other sandbox's workspace, HOME or /tmp", async () => {
    await other.exec('echo mine | tee here ~/here /tmp/here /dev/shm/here /var/tmp/here')
    expect(await output(`cat ${other.root}/here ~/here /tmp/here /dev/shm/here /var/tmp/here`)).toBe('')
  })

  it("sees and kills no other sandbox's processes", async () => {
    await other.spawn('exec sleep 4321.5')
    await output('kill -9 -1')
    expect(await output('cat /proc/[0-9]*/cmdline | tr -d "\\0" | grep 4321.5 | grep -v grep')).toBe('')
    expect(await other.output('cat /proc/[0-9]*/cmdline | tr "\\0" " "')).toContain('sleep 4321.5')
  })

  it('connects to no port or abstract socket of another sandbox', async () => {
    await other.spawn('exec ./probe listen @theirs')
    await other.spawn(
      `exec perl -MIO::Socket::INET -e 'IO::Socket::INET->new(Listen=>1,LocalAddr=>"127.0.0.1:7777")->accept'`,
    )
    const ready =
      'for i in $(seq 50); do ./probe connect @theirs | grep ok && ./probe tcp 127.0.0.1 7777 | grep ok && break; sleep 0.1; done'
    expect(await other.output(ready)).toContain('ok\nok')
    expect(await output('./probe connect @theirs')).toBe('ECONNREFUSED')
    expect(await output('./probe tcp 127.0.0.1 7777')).toBe('ECONNREFUSED')
  })

  it('shares no memory and no queue with another sandbox', async () => {
    expect(await other.output('./probe shm-make 4242; ./probe mq-make /theirs; ./probe shm-find 4242')).toBe(
      'ok\nok\nok',
    )
    expect(await output('./probe shm-find 4242; ./probe mq-find /theirs')).toBe('ENOENT\nENOENT')
  })

  it('shares one machine among all of its own commands', async () => {
    await output('./probe shm-make 77; echo there > /tmp/there')
    expect(await sandbox().output('./probe shm-find 77; cat /tmp/there')).toBe('ok\nthere')
  })
})
