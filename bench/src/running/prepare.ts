// Prepares what measurements need: node prepare.ts <build | peers>
import { build } from '../../../scripts/tools.ts'
import type { Need } from '../measurement.ts'
import { peersFolder } from '../peers/install.ts'
import { reportToParent } from './report-to-parent.ts'

const made: Readonly<Record<Need, () => Promise<unknown>>> = {
  async build() {
    if (!(await build())) throw new Error('"npm run build" failed.')
  },
  peers: peersFolder,
}

await reportToParent(async () => {
  // `run-benchmarks.ts` passes a valid need.
  await made[process.argv[2] as Need]()
})
