import { fromProblem } from '@vitrine/protocol'
import type { RunningDaemon } from '../serve/start.ts'

const prompt = 'Build me a landing page for my bakery'

/** A session with the demo agent and a first prompt, as any other caller would begin it. */
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
    const answer: unknown = await response.json()
    if (!response.ok) throw fromProblem(answer)
    return answer as Record<string, unknown>
  }
  const { VITRINE_DEMO_PACE: pace } = process.env
  const env = pace === undefined ? {} : { VITRINE_DEMO_PACE: pace }
  const { id } = await post('sessions', { agent: 'demo', permissions: 'allow', env })
  await post(`sessions/${encodeURIComponent(String(id))}/prompt`, { content: prompt })
}
