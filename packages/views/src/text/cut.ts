/** Cuts text to `max` code points, the last of which is then `…`. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const characters: string[] = []
  for (const character of text) {
    if (characters.length >= max) return max < 1 ? '' : `${characters.slice(0, -1).join('')}…`
    characters.push(character)
  }
  return text
}
