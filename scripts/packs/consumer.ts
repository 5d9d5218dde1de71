/** A program of another project: it is copied beside the installed packages, type-checked and run there. */
import { transcriptText } from '@vitrine/views'
import { createSandbox } from 'vitrine'

await using sandbox = await createSandbox()
const session = await sandbox.openSession({ agent: 'demo', permissions: 'allow' })
const { outcome } = await session.prompt('/say the packages work')
// @ts-expect-error: this fails to compile if the installed types are missing, because then everything is `any`.
const wrong: number = outcome
console.log(wrong, transcriptText(await session.transcript()))
