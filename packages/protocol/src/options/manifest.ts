import * as z from 'zod/mini'
import { named } from '../component.ts'
import { lazily } from '../lazy.ts'
import type { SetupStep } from '../sandbox/manifest.ts'
import type { Given } from './given.ts'
import { strict } from './strict.ts'
import { bytes, milliseconds, mode, text, textsByName, whole, withoutNul } from './values.ts'

const maxConcurrency = 256
const maxDepth = 0x7fff_ffff
/** The redactor does not mask shorter secrets. */
const shortestToken = 4

/** Names that every `useradd` accepts. */
const accountName = () =>
  z
    .string()
    .check(
      z.regex(
        /^[a-z_][a-z0-9_-]{0,31}$/,
        'expected a name of lower-case letters, digits, "_" and "-", 32 at most',
      ),
    )

const path = () => z.string()
const list = <Item extends z.ZodMiniType>(item: Item) => z.array(item)
const byPath = <Entry extends z.ZodMiniType>(entry: Entry) => z.record(z.string(), entry)
const withoutLineBreak = () => z.regex(/^[^\r\n\0]*$/, 'expected a string without line breaks')

/** The program's name must not be empty; its arguments may be. */
const argv = () =>
  list(z.string().check(withoutNul())).check(
    z.refine(([program = '']) => program !== '', 'expected a command'),
  )

const run = () => z.union([text(), argv()])

type Step = z.ZodMiniType<Given<SetupStep>, Given<SetupStep>>

const setup = lazily({
  step: (): Step =>
    named(
      'SetupStep',
      z.union([
        text(),
        argv(),
        strict({
          run: run(),
          name: z.optional(text()),
          cwd: z.optional(text()),
          env: z.optional(textsByName()),
          user: z.optional(text()),
          timeoutMs: z.optional(milliseconds()),
        }),
        strict({
          get parallel() {
            return list(setup.step)
          },
        }),
      ]),
    ),
})

const repository = () =>
  strict({
    url: text(),
    ref: z.optional(text()),
    depth: z.optional(z.union([whole(1, maxDepth), z.literal('full')])),
    credentials: z.optional(
      strict({
        username: z.optional(text().check(withoutLineBreak())),
        token: z
          .string()
          .check(
            z.minLength(shortestToken, `expected a string of ${shortestToken} characters or more`),
            withoutLineBreak(),
          ),
      }),
    ),
  })

/** In two steps: one pattern of groups would exhaust the stack on a large file. */
const base64 = () =>
  z
    .string()
    .check(
      z.refine<string>(
        (value) => value.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(value.replace(/={1,2}$/, '')),
        'expected base64 with its padding',
      ),
    )

const manifestOf = <Content extends z.ZodMiniType>(content: Content) =>
  strict({
    files: z.optional(byPath(z.union([content, strict({ content, mode: z.optional(mode()) })]))),
    directories: z.optional(list(z.union([path(), strict({ path: path(), mode: z.optional(mode()) })]))),
    copy: z.optional(byPath(z.union([text(), strict({ source: text(), ignore: z.optional(list(text())) })]))),
    git: z.optional(byPath(repository())),
    users: z.optional(
      list(
        z.union([accountName(), strict({ name: accountName(), groups: z.optional(list(accountName())) })]),
      ),
    ),
    groups: z.optional(list(accountName())),
    env: z.optional(textsByName()),
    setup: z.optional(list(setup.step)),
    concurrency: z.optional(whole(1, maxConcurrency)),
  })

/** The manifest of a new sandbox. The engine also checks overlapping entries, git refs and git URLs. */
export const manifestOptions = lazily({
  /** One setup step. Steps can be nested, so the OpenAPI document refers to this schema by name. */
  step: () => setup.step,
  /** The JSON form, over HTTP and in a sandbox's record: bytes are base64. */
  json: () => manifestOf(z.union([z.string(), strict({ base64: base64() })])),
  /** The in-process form: file contents may be bytes. */
  manifest: () => manifestOf(z.union([z.string(), bytes()])),
})
