import type { ConfigOption } from '@vitrine/protocol'

/** Builds an option of a registry entry from its values and their names. */
export function option(
  category: 'model' | 'mode' | 'thought_level',
  id: string,
  name: string,
  current: string,
  names: Readonly<Record<string, string>>,
): ConfigOption {
  const choices = Object.entries(names).map(([value, label]) => ({ value, name: label }))
  return { id, name, category, current, choices, static: true }
}
