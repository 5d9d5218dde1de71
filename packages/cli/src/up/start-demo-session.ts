import { fromProblem } from '@vitrine/protocol'
import type { RunningDaemon } from '../serve/start.ts'

const prompt = 'Build me a landing page for my bakery'

/** Opens a session with the demo agent and sends a first prompt, through the same HTTP routes as any client. */
export async function startDemoSession({ server, token }: RunningDaemon): Promise<void> {
  async function post(path: string, body: object): Promise<Record<string, unknown>> {
    const response = await server.fetch(
      new Request(`http://localhost/v1/${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(body),
      }),
    )
    const result: unknown = await response.json()
    if (!response.ok) throw fromProblem(result)
    return result as Record<string, unknown>
  }
  const { VITRINE_DEMO_PACE: pace } = process.env
  const env = pace === undefined ? {} : { VITRINE_DEMO_PACE: pace }
  const { id } = await post('sessions', { agent: 'demo', permissions: 'allow', env })
  await post(`sessions/${encodeURIComponent(String(id))}/prompt`, { prompt })
}
