import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSandbox } from '@vitrine/host'
import type { Session, TurnLimits } from '@vitrine/protocol'
import { local } from '@vitrine/sandbox'
import { expect, it } from 'vitest'
import { agentCache, modelKey } from './environment.ts'
import type { ExpectedBehaviour } from './expected.ts'
import type { AgentIsolation } from './fixture.ts'

const idleMs = 5_000

/** Endpoints that are no models: a turn ends, and its result or error names the endpoint. */
export function badEndpointCases(expected: ExpectedBehaviour, isolation: AgentIsolation): void {
  const { page } = expected

  it('names the model endpoint when it answers with a page', async () => {
    const answer: RequestListener = (request, response) => {
      request.resume()
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>404 Not Found</h1>')
    }
    await withEndpoint(expected, isolation, { answer }, async (session, url) => {
      const named = expect.stringContaining(`modelEndpoint.url: the model at ${url} gave no usable answer`)
      const prompting = session.prompt('say:banana')
      if (page === 'message' || page === 'silence')
        expect(await prompting).toMatchObject({ outcome: 'ok', modelError: { sign: page, hint: named } })
      else await expect(prompting).rejects.toMatchObject({ code: page, message: named })
    })
  })

  it('names the model endpoint when it does not answer within the time limit of the turn', async () => {
    const answer: RequestListener = (request) => void request.resume()
    await withEndpoint(expected, isolation, { answer, limits: { idleMs } }, async (session, url) => {
      const { outcome, modelError } = await session.prompt('say:banana')
      expect(outcome).toBe('timeout')
      expect(modelError).toMatchObject({
        sign: 'silence',
        hint: expect.stringContaining(`the model at ${url}`),
      })
    })
  })
}

async function withEndpoint(
  { agent, mode }: ExpectedBehaviour,
  isolation: AgentIsolation,
  { answer, limits = {} }: { readonly answer: RequestListener; readonly limits?: TurnLimits },
  run: (session: Session, url: string) => Promise<void>,
): Promise<void> {
  await using open = new AsyncDisposableStack()
  const server = createServer(answer).listen(0, '127.0.0.1')
  open.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  // A TCP server's address has a port.
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const sandbox = open.use(
    await createSandbox({
      provider: local({ isolation }),
      agentCache,
      install: 'never',
      prefix: `vitrine-${agent}-`,
    }),
  )
  const session = await sandbox.openSession({
    agent,
    modelEndpoint: { url, key: modelKey },
    limits,
    ...(mode !== undefined && { mode }),
  })
  await run(session, url)
}
