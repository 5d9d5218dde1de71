import type { Journal } from '@vitrine/journal'
import type { Processes } from '@vitrine/protocol'
import { refusing, refusingStream } from './refusal.ts'

/** The processes of a sandbox that starts none. */
export function noProcesses(journal: Journal): Processes {
  return {
    list: () => journal.operate('process_list', {}, () => [], { finish: () => ({ count: 0 }) }),
    get: refusing('processes.get'),
    logs: refusing('processes.logs'),
    follow: refusingStream('processes.follow'),
    input: refusing('processes.input'),
    resize: refusing('processes.resize'),
    signal: refusing('processes.signal'),
    stop: refusing('processes.stop'),
    kill: refusing('processes.kill'),
    attach: refusing('processes.attach'),
    remove: refusing('processes.remove'),
  }
}
