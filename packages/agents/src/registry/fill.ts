export type TemplateValues = Readonly<Partial<Record<'url' | 'key' | 'model' | 'home', string>>>

/**
 * Replaces the placeholders of a registry template; a placeholder without a value stays.
 *
 * @example
 * fill('{home}/.codex', { home: '/home/sandbox' }) // '/home/sandbox/.codex'
 */
export function fill(template: string, values: TemplateValues): string {
  return template.replace(
    /\{(url|key|model|home)\}/g,
    (placeholder, name: keyof TemplateValues) => values[name] ?? placeholder,
  )
}
