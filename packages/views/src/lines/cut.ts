/** At most `max` code points; where something is left out, the last of them is `…`. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const kept: string[] = []
  for (const character of text) {
    if (kept.length >= max) return max < 1 ? '' : `${kept.slice(0, -1).join('')}…`
    kept.push(character)
  }
  return text
}
