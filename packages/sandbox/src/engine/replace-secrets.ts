import type { Journal } from '@vitrine/journal'
import type { EngineCore } from './core.ts'
import { checkVariables } from './secrets.ts'

/**
 * Masks the given values, and gives those that are variables of the sandbox to its later commands. An operation names the
 * variables that change.
 */
export async function replaceSecrets(
  core: EngineCore,
  journal: Journal,
  given: Readonly<Record<string, string>>,
): Promise<void> {
  const fresh = Object.entries(given).filter(([name, value]) => core.secrets[name] !== value)
  const variables = Object.fromEntries(fresh.filter(([name]) => Object.hasOwn(core.secrets, name)))
  checkVariables(variables, core.settings.env)
  // Before the first event, and before a command can print them.
  const forget = core.store.addSecrets(Object.fromEntries(fresh), { sandbox: core.id })
  const names = Object.keys(variables)
  if (names.length === 0) return
  let isUsed = false
  const use = async () => {
    core.replaceSecrets(variables)
    isUsed = true
  }
  try {
    await journal.operate('attach', { secrets: names }, use)
  } catch (error) {
    if (!isUsed) forget()
    throw error
  }
}
