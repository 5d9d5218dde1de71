const partBytes = 0x8000

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  // A call accepts a limited number of arguments.
  for (let at = 0; at < bytes.length; at += partBytes)
    text += String.fromCharCode(...bytes.subarray(at, at + partBytes))
  return btoa(text)
}

export function fromBase64(text: string): Uint8Array {
  const letters = atob(text)
  const bytes = new Uint8Array(letters.length)
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at)
  return bytes
}
