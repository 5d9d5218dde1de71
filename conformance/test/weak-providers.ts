import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Capabilities } from '@vitrine/protocol'
import type { AttackDriver, AttackedDaemon, SandboxUnderTest, TestedSandbox } from '../src/index.ts'
import { localSandboxes } from './sandboxes.ts'

const isolated = localSandboxes('bubblewrap', 'memory')
const plain = localSandboxes('none', 'memory')

/** The same object with other members. Methods keep their own `this`, because they use private fields. */
function changed<T extends object>(whole: T, members: Partial<T>): T {
  return new Proxy(whole, {
    get(target, name) {
      if (name in members) return Reflect.get(members, name)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function weakened(
  under: SandboxUnderTest,
  weaken: (sandbox: TestedSandbox) => Partial<TestedSandbox>,
): SandboxUnderTest {
  return { ...under, sandbox: changed(under.sandbox, weaken(under.sandbox)) }
}

function claiming(under: SandboxUnderTest, claims: Partial<Capabilities>): SandboxUnderTest {
  return weakened(under, ({ capabilities }) => ({ capabilities: { ...capabilities, ...claims } }))
}

/** Claims namespaces, and runs plain processes. */
export const notIsolated: AttackDriver = {
  make: async (options) => claiming(await plain(options), { isolation: 'namespaces' }),
}

/** Reads and writes files with commands, which follow every link. */
export const followsLinks: AttackDriver = {
  make: async (options) =>
    weakened(await isolated(options), (sandbox) => ({
      files: changed(sandbox.files, {
        async read(path) {
          const { stdout } = await sandbox.exec(['cat', path])
          return new Blob([stdout]).stream()
        },
        async write(path, content) {
          await sandbox.exec(['sh', '-c', 'cat > "$1"', 'sh', path], { stdin: content })
          return sandbox.files.stat('.')
        },
      }),
    })),
}

/** Unpacks with a program that does what the archive says. */
export const unpacksAnything: AttackDriver = {
  make: async (options) =>
    weakened(await isolated(options), (sandbox) => ({
      files: changed(sandbox.files, {
        async upload(path, archive) {
          await sandbox.exec(['sh', '-c', 'mkdir -p "$1" && tar xPf - -C "$1"', 'sh', path], {
            stdin: archive,
          })
          return { files: 1, directories: 0, links: 0, bytes: 0, leftOut: [], leftOutCount: 0 }
        },
      }),
    })),
}

/** Ignores the policy. */
export const withoutPolicy: AttackDriver = {
  make: ({ policy: _, ...options } = {}) => isolated(options),
}

/** Takes the end of a process from a line that it printed. */
export const believesOutput: AttackDriver = {
  make: async (options) =>
    weakened(await isolated(options), (sandbox) => ({
      async exec(command, execOptions) {
        const result = await sandbox.exec(command, execOptions)
        const printed = /"exitCode":(\d+)/.exec(result.stdout + result.stderr)
        return printed === null ? result : { ...result, exitCode: Number(printed[1]), outcome: 'ok' }
      },
    })),
}

/** Gives a command its secrets as ordinary variables. */
export const withoutMasking: AttackDriver = {
  make: async ({ secrets = {}, ...options } = {}) =>
    weakened(await isolated(options), (sandbox) => ({
      exec: (command, execOptions = {}) => sandbox.exec(command, asVariables(execOptions, secrets)),
      spawn: (command, spawnOptions = {}) => sandbox.spawn(command, asVariables(spawnOptions, secrets)),
    })),
}

type Variables = Readonly<Record<string, string>>

function asVariables<Options extends { readonly env?: Variables; readonly secrets?: Variables }>(
  { secrets = {}, env = {}, ...rest }: Options,
  given: Variables,
): Omit<Options, 'env' | 'secrets'> & { env: Variables } {
  return { ...rest, env: { ...given, ...env, ...secrets } }
}

/** Claims limits and sets none. */
export const withoutLimits: AttackDriver = {
  make: async ({ limits: _, ...options } = {}) =>
    claiming(await isolated(options), { limits: ['memory', 'cpu', 'pids'] }),
}

/** Claims an allow-list, and has the network of the host. */
export const withoutAllowList: AttackDriver = {
  make: async ({ egress: _, ...options } = {}) => isolated({ ...options, network: 'host' }),
}

/** Forwards every request to the daemon as if it came from its owner, and every page without its policy. */
export async function openProxy(daemon: AttackedDaemon): Promise<{ daemon: AttackedDaemon; close(): void }> {
  const { hostname, port } = new URL(daemon.url)
  const server = createServer((received, response) => {
    const { origin: _origin, host: _host, ...headers } = received.headers
    const sent = request({
      ...{ host: hostname, port, path: received.url, method: received.method },
      headers: { ...headers, authorization: `Bearer ${daemon.token}` },
    })
    sent.once('response', (answer) => {
      const { 'content-security-policy': _policy, ...others } = answer.headers
      response.writeHead(answer.statusCode ?? 502, { ...others, 'access-control-allow-origin': '*' })
      answer.pipe(response)
    })
    sent.once('error', () => response.destroy())
    received.pipe(sent)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port: own } = server.address() as AddressInfo
  return {
    daemon: { ...daemon, url: `http://127.0.0.1:${own}`, show: (sandbox) => rawEvents(daemon, sandbox) },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The output of a sandbox as its programs printed it. */
async function rawEvents({ url, token }: AttackedDaemon, sandbox: string): Promise<string> {
  const response = await fetch(`${url}/v1/sandboxes/${sandbox}/events?types=process.output&limit=1000`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const { events } = (await response.json()) as { events: { data: { data: string } }[] }
  return ['name-', ...events.map(({ data }) => data.data)].join('\n')
}
