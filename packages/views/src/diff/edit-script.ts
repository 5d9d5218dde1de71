/** Which lines of two texts differ: a line that is neither removed nor added is in both. */
export interface EditScript {
  readonly removed: Uint8Array
  readonly added: Uint8Array
  /** False if the limit of steps was reached: then more lines than necessary are removed and added. */
  readonly shortest: boolean
}

interface Box {
  readonly fromA: number
  readonly toA: number
  readonly fromB: number
  readonly toB: number
}

/**
 * The shortest edit script of two sequences, by Myers' algorithm in linear space. Equal numbers are equal lines. After
 * `maxSteps` the rest is replaced as a whole.
 */
export function editScript(a: Int32Array, b: Int32Array, maxSteps: number): EditScript {
  const removed = new Uint8Array(a.length)
  const added = new Uint8Array(b.length)
  const search = new MiddleSearch(a, b, maxSteps)
  const boxes: Box[] = [{ fromA: 0, toA: a.length, fromB: 0, toB: b.length }]
  for (let box = boxes.pop(); box !== undefined; box = boxes.pop()) {
    const { fromA, toA, fromB, toB } = withoutEqualEnds(a, b, box)
    const middle = fromA < toA && fromB < toB ? search.middle({ fromA, toA, fromB, toB }) : undefined
    if (middle === undefined) {
      removed.fill(1, fromA, toA)
      added.fill(1, fromB, toB)
      continue
    }
    boxes.push({ fromA, toA: middle.a, fromB, toB: middle.b }, { fromA: middle.a, toA, fromB: middle.b, toB })
  }
  return { removed, added, shortest: !search.exhausted }
}

function withoutEqualEnds(a: Int32Array, b: Int32Array, { fromA, toA, fromB, toB }: Box): Box {
  let [startA, startB, endA, endB] = [fromA, fromB, toA, toB]
  while (startA < endA && startB < endB && a[startA] === b[startB]) {
    startA += 1
    startB += 1
  }
  while (startA < endA && startB < endB && a[endA - 1] === b[endB - 1]) {
    endA -= 1
    endB -= 1
  }
  return { fromA: startA, toA: endA, fromB: startB, toB: endB }
}

/** Finds a point in the middle of a shortest edit script, searching from both ends until the searches meet. */
class MiddleSearch {
  exhausted = false
  readonly #a: Int32Array
  readonly #b: Int32Array
  #steps: number
  /** The furthest position in `a` on each diagonal, from the start and from the end. */
  readonly #forward: Int32Array
  readonly #backward: Int32Array
  readonly #offset: number

  constructor(a: Int32Array, b: Int32Array, maxSteps: number) {
    this.#a = a
    this.#b = b
    this.#steps = maxSteps
    this.#offset = b.length + 1
    this.#forward = new Int32Array(a.length + b.length + 3)
    this.#backward = new Int32Array(a.length + b.length + 3)
  }

  middle({ fromA, toA, fromB, toB }: Box): { readonly a: number; readonly b: number } | undefined {
    const a = this.#a
    const b = this.#b
    const forward = this.#forward
    const backward = this.#backward
    const at = this.#offset
    const [lowest, highest] = [fromA - toB, toA - fromB]
    const [start, end] = [fromA - fromB, toA - toB]
    const isOdd = ((start - end) & 1) !== 0
    let [forwardLow, forwardHigh, backwardLow, backwardHigh] = [start, start, end, end]
    forward[at + start] = fromA
    backward[at + end] = toA
    for (;;) {
      if (this.exhausted) return undefined
      if (forwardLow > lowest) forward[at + --forwardLow - 1] = -1
      else forwardLow += 1
      if (forwardHigh < highest) forward[at + ++forwardHigh + 1] = -1
      else forwardHigh -= 1
      for (let diagonal = forwardHigh; diagonal >= forwardLow; diagonal -= 2) {
        const below = forward[at + diagonal - 1]!
        const above = forward[at + diagonal + 1]!
        let x = below < above ? above : below + 1
        const first = x
        while (x < toA && x - diagonal < toB && a[x] === b[x - diagonal]) x += 1
        this.#steps -= 1 + x - first
        forward[at + diagonal] = x
        if (isOdd && backwardLow <= diagonal && diagonal <= backwardHigh && backward[at + diagonal]! <= x)
          return { a: x, b: x - diagonal }
      }
      if (backwardLow > lowest) backward[at + --backwardLow - 1] = 0x7fffffff
      else backwardLow += 1
      if (backwardHigh < highest) backward[at + ++backwardHigh + 1] = 0x7fffffff
      else backwardHigh -= 1
      for (let diagonal = backwardHigh; diagonal >= backwardLow; diagonal -= 2) {
        const below = backward[at + diagonal - 1]!
        const above = backward[at + diagonal + 1]!
        let x = below < above ? below : above - 1
        const first = x
        while (x > fromA && x - diagonal > fromB && a[x - 1] === b[x - diagonal - 1]) x -= 1
        this.#steps -= 1 + first - x
        backward[at + diagonal] = x
        if (!isOdd && forwardLow <= diagonal && diagonal <= forwardHigh && x <= forward[at + diagonal]!)
          return { a: x, b: x - diagonal }
      }
      if (this.#steps <= 0) this.exhausted = true
    }
  }
}
