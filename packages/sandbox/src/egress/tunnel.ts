import type { Socket } from 'node:net'

/** Joins two sockets until both are closed. Each end is passed on as it comes; a reader's pace is the writer's. */
export function join(client: Socket, upstream: Socket, idleMs: number | undefined): void {
  if (client.destroyed) return void upstream.destroy()
  closeWith(client, upstream)
  closeWith(upstream, client)
  client.setTimeout(0)
  // All that moves passes upstream, so its silence is the tunnel's.
  if (idleMs !== undefined) upstream.setTimeout(idleMs, () => upstream.destroy())
  client.pipe(upstream)
  upstream.pipe(client)
}

/** What came in whole is still delivered; what broke off breaks off. */
function closeWith(first: Socket, second: Socket): void {
  first.once('close', () => {
    if (first.readableEnded) second.destroySoon()
    else second.destroy()
  })
}
