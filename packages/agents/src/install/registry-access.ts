import { VitrineError } from '@vitrine/protocol'

/** How npm gets at packages from inside a sandbox. */
export interface RegistryAccess {
  /** For npm's command line. */
  readonly args: readonly string[]
  /** Hosts and ports of every registry that is set. */
  readonly egress: readonly string[]
  /** The proxy that this machine needs to get there, logins included. */
  readonly proxy?: URL
  readonly cafile?: string
  /** Certificates that are in the settings themselves. */
  readonly certificates: readonly string[]
}

type Settings = Readonly<Record<string, unknown>>
type Environment = Readonly<Record<string, string | undefined>>

/** Reads npm's settings; nothing about any registry is known but what they say. */
export function registryAccess(settings: Settings, env: Environment): RegistryAccess {
  const registries = Object.entries(settings).flatMap(([name, value]) =>
    name === 'registry' || /^@[^:]+:registry$/.test(name) ? [{ name, url: addressOf(name, value) }] : [],
  )
  const main = registries.find(({ name }) => name === 'registry')
  if (main === undefined)
    throw new VitrineError(
      'agent_install_failed',
      'npm has no registry: set one, `npm config set registry <address>`.',
    )
  const proxy = isLoopback(main.url) || isExempt(main.url, settings, env) ? undefined : proxyOf(settings, env)
  const { cafile, ca } = settings
  return {
    args: [
      ...registries.map(({ name, url }) => `--${name}=${url.href}`),
      ...(settings['strict-ssl'] === false ? ['--strict-ssl=false'] : []),
    ],
    egress: [...new Set(registries.map(({ url }) => hostAndPort(url)))],
    ...(proxy && { proxy }),
    ...(typeof cafile === 'string' && cafile !== '' && { cafile }),
    certificates: [ca].flat().filter((one): one is string => typeof one === 'string' && one !== ''),
  }
}

/** @example hostAndPort(new URL('https://packages.example/npm/')) // 'packages.example:443' */
export function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`
}

function addressOf(name: string, value: unknown): URL {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url !== null && (url.protocol === 'https:' || url.protocol === 'http:')) return url
  throw new VitrineError(
    'agent_install_failed',
    `npm's setting ${name} is no address: correct it, \`npm config get ${name}\` shows it.`,
  )
}

function proxyOf(settings: Settings, env: Environment): URL | undefined {
  const wanted = [
    ...[settings['https-proxy'], settings.proxy],
    // npm does not tell an address with a login in it.
    ...[env.npm_config_https_proxy, env.npm_config_proxy],
    ...[env.HTTPS_PROXY, env.https_proxy, env.HTTP_PROXY, env.http_proxy],
  ].find((value) => typeof value === 'string' && value !== '')
  if (typeof wanted !== 'string') return undefined
  const url = URL.parse(wanted)
  if (url?.protocol === 'http:') return url
  throw new VitrineError(
    'agent_install_failed',
    "npm's proxy must be an http:// address to be used from a sandbox: look at `npm config get https-proxy`.",
  )
}

function isExempt({ hostname }: URL, settings: Settings, env: Environment): boolean {
  const listed = [settings.noproxy, env.NO_PROXY, env.no_proxy].flat()
  return listed
    .flatMap((value) => (typeof value === 'string' ? value.split(',') : []))
    .map((part) => part.trim().replace(/^\*?\./, ''))
    .some((part) => part === '*' || (part !== '' && (hostname === part || hostname.endsWith(`.${part}`))))
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
}
