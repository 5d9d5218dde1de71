import { requirePort } from '@vitrine/protocol/primitives'

/** Connections to servers inside the sandbox bypass the proxy. */
const ownLoopback = 'localhost,127.0.0.1,::1'

/**
 * The environment variables that make programs in a sandbox use the proxy on the sandbox's loopback interface.
 *
 * @example
 * proxyEnvironment(3128).HTTPS_PROXY // 'http://127.0.0.1:3128'
 */
export function proxyEnvironment(port: number): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${requirePort(port)}`
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    NO_PROXY: ownLoopback,
    // Some programs read only the lower-case names.
    http_proxy: proxy,
    https_proxy: proxy,
    all_proxy: proxy,
    no_proxy: ownLoopback,
    NODE_USE_ENV_PROXY: '1',
  }
}
