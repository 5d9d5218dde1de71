const maxLinks = 40

/** The links of an archive by the names on the way to them. */
interface LinkPosition {
  readonly below: Map<string, LinkPosition>
  target?: string
}

/** Judges symbolic links by where they lead, from the root that they may not leave. */
export class LinkTargets {
  readonly #base: readonly string[]
  readonly #rootPath: string | undefined
  readonly #root: LinkPosition = { below: new Map() }

  /**
   * @param below The path of what is unpacked, from that root.
   * @param rootPath The root as processes see it: absolute targets below it are inside.
   */
  constructor(below: string, rootPath: string | undefined) {
    this.#base = partsOf(below)
    this.#rootPath = rootPath
  }

  add(path: string, target: string): void {
    let place = this.#root
    for (const part of [...this.#base, ...partsOf(path)]) {
      const next = place.below.get(part) ?? { below: new Map() }
      place.below.set(part, next)
      place = next
    }
    place.target = target
  }

  /**
   * Whether a link stays inside when it is followed word by word, and through the links that were added: with `b`
   * being a link too, `b/..` is not where its words say.
   */
  staysInside(path: string, target: string): boolean {
    const here: (LinkPosition | undefined)[] = []
    const enter = (part: string) => {
      const place = here.length === 0 ? this.#root : here.at(-1)
      here.push(place?.below.get(part))
    }
    for (const part of [...this.#base, ...partsOf(path).slice(0, -1)]) enter(part)
    const ahead: string[] = []
    let follow: string | undefined = target
    for (let followed = 0; ; ) {
      if (follow !== undefined) {
        const inside = this.#fromRoot(follow)
        if (inside === undefined) return false
        if (inside !== follow) here.length = 0
        ahead.push(...inside.split('/').reverse())
        follow = undefined
      }
      const part = ahead.pop()
      if (part === undefined) return true
      if (part === '' || part === '.') continue
      if (part === '..') {
        if (here.length === 0) return false
        here.pop()
        continue
      }
      enter(part)
      follow = here.at(-1)?.target
      if (follow === undefined) continue
      here.pop()
      followed += 1
      // It leads nowhere, so not out.
      if (followed > maxLinks) return true
    }
  }

  /** An absolute target from the root, a relative one as it is, and nothing for what is outside. */
  #fromRoot(target: string): string | undefined {
    if (!target.startsWith('/')) return target
    const root = this.#rootPath
    if (root === undefined) return undefined
    if (target === root) return ''
    return target.startsWith(`${root}/`) ? target.slice(root.length + 1) : undefined
  }
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}
