export type Filling = Readonly<Partial<Record<'url' | 'key' | 'model' | 'home', string>>>

/**
 * A template of the registry with its placeholders filled in; what has no value stays as it is written.
 *
 * @example
 * fill('{home}/.codex', { home: '/home/sandbox' }) // '/home/sandbox/.codex'
 */
export function fill(template: string, values: Filling): string {
  return template.replace(/\{(url|key|model|home)\}/g, (whole, name: keyof Filling) => values[name] ?? whole)
}
