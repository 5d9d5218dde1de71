import { VitrineError } from '@vitrine/protocol'

/** Settings with which npm can use the registries from inside a sandbox. */
export interface RegistryAccess {
  /** Arguments for npm. */
  readonly args: readonly string[]
  /** `host:port` of every configured registry. */
  readonly egress: readonly string[]
  /** The proxy that this machine needs to reach the registry, including its login. */
  readonly proxy?: URL
  readonly cafile?: string
  /** CA certificates that the settings contain as text. */
  readonly certificates: readonly string[]
}

type Settings = Readonly<Record<string, unknown>>
type Environment = Readonly<Record<string, string | undefined>>

/** Derives the access from npm's settings and environment alone; no registry is built in. */
export function registryAccess(settings: Settings, env: Environment): RegistryAccess {
  const registries = Object.entries(settings).flatMap(([name, value]) =>
    name === 'registry' || /^@[^:]+:registry$/.test(name) ? [{ name, url: urlOf(name, value) }] : [],
  )
  const main = registries.find(({ name }) => name === 'registry')
  if (main === undefined)
    throw new VitrineError(
      'agent_install_failed',
      'npm has no registry: set one with `npm config set registry <url>`.',
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

function urlOf(name: string, value: unknown): URL {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url !== null && (url.protocol === 'https:' || url.protocol === 'http:')) return url
  throw new VitrineError(
    'agent_install_failed',
    `npm's setting ${name} is not an http or https URL: \`npm config get ${name}\` shows it, \`npm config set ${name} <url>\` corrects it.`,
  )
}

function proxyOf(settings: Settings, env: Environment): URL | undefined {
  const value = [
    ...[settings['https-proxy'], settings.proxy],
    // `npm config list` hides a URL that contains a login.
    ...[env.npm_config_https_proxy, env.npm_config_proxy],
    ...[env.HTTPS_PROXY, env.https_proxy, env.HTTP_PROXY, env.http_proxy],
  ].find((value) => typeof value === 'string' && value !== '')
  if (typeof value !== 'string') return undefined
  const url = URL.parse(value)
  if (url?.protocol === 'http:') return url
  throw new VitrineError(
    'agent_install_failed',
    "npm's proxy must be an http:// URL to be usable from a sandbox: check `npm config get https-proxy`.",
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
