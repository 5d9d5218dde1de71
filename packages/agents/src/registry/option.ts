import type { ConfigOption } from '@vitrine/protocol'

/** A choice as the registry writes it down: values with their names. */
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
