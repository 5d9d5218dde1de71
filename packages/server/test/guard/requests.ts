import { type Route, routes } from '@vitrine/protocol/http'

/** Every route of the table at an address of its own, short and long, with a body that it would take as one. */
export function everyRequest(): { name: string; access: Route['access']; method: string; path: string }[] {
  return Object.entries<Route>(routes).flatMap(([name, { method, path, scope, access }]) => {
    const filled = path.replaceAll(/\{(\w+)\}/g, 'some-$1')
    const paths = scope === 'host' ? [filled] : [filled, `/sandboxes/some-sandbox${filled}`]
    return paths.map((one) => ({ name, access, method, path: `/v1${one}` }))
  })
}
