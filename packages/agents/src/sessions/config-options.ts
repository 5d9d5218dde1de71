import { type ConfigChoice, type ConfigOption, type JsonObject, VitrineError } from '@vitrine/protocol'
import { listIn, objectIn, textIn } from './fields.ts'

/** An option with the protocol method that sets it; agents implement one of three generations. */
export interface KnownOption extends ConfigOption {
  readonly via: 'config' | 'mode' | 'model'
}

/** Reads the options from the result of `session/new`, `load`, `resume` or `fork`. */
export function readOptions(result: unknown): KnownOption[] {
  const configured = listIn(result, 'configOptions').flatMap(readConfigOption)
  const has = (category: string) => configured.some((option) => option.category === category)
  return [
    ...configured,
    ...(has('mode') ? [] : readChoices(objectIn(result, 'modes'), modeFields)),
    ...(has('model') ? [] : readChoices(objectIn(result, 'models'), modelFields)),
  ]
}

interface OptionFields {
  readonly id: 'mode' | 'model'
  readonly name: string
  readonly list: string
  readonly current: string
  readonly value: string
}

const modeFields: OptionFields = {
  id: 'mode',
  name: 'Mode',
  list: 'availableModes',
  current: 'currentModeId',
  value: 'id',
}
const modelFields: OptionFields = {
  id: 'model',
  name: 'Model',
  list: 'availableModels',
  current: 'currentModelId',
  value: 'modelId',
}

function readChoices(state: JsonObject | undefined, names: OptionFields): KnownOption[] {
  if (state === undefined) return []
  const { id, name, list, current, value } = names
  const choices = listIn(state, list).flatMap((one) => choiceOf(one, value))
  return [{ id, name, category: id, via: id, choices, ...currentOf(textIn(state, current)) }]
}

function readConfigOption(value: unknown): KnownOption[] {
  const id = textIn(value, 'id')
  const fields = objectIn(value)
  if (id === undefined || fields === undefined) return []
  const category = textIn(value, 'category')
  const choices = listIn(value, 'options').flatMap((one) => {
    const group = listIn(one, 'options')
    return group.length > 0 ? group.flatMap((inner) => choiceOf(inner, 'value')) : choiceOf(one, 'value')
  })
  return [
    {
      id,
      name: textIn(value, 'name') ?? id,
      via: 'config',
      choices: textIn(value, 'type') === 'boolean' ? onOff : choices,
      ...(category !== undefined && { category }),
      ...currentOf(fields.currentValue),
    },
  ]
}

const onOff: readonly ConfigChoice[] = [
  { value: 'true', name: 'On' },
  { value: 'false', name: 'Off' },
]

function currentOf(current: JsonObject[string]): Pick<ConfigOption, 'current'> {
  return typeof current === 'string' || typeof current === 'boolean' ? { current } : {}
}

function choiceOf(value: unknown, key: string): ConfigChoice[] {
  const id = textIn(value, key)
  if (id === undefined) return []
  const description = textIn(value, 'description')
  return [{ value: id, name: textIn(value, 'name') ?? id, ...(description !== undefined && { description }) }]
}

/** Finds an option by category or id; throws and lists the known ones when the option or the value does not exist. */
export function findOption(
  agent: string,
  options: readonly KnownOption[],
  wanted: { readonly category?: string; readonly id?: string },
  value: string | boolean,
): KnownOption {
  const { category, id } = wanted
  // Some agents have several options of a category: prefer the one whose id is the category.
  const option =
    id === undefined
      ? (options.find((one) => one.category === category && one.id === category) ??
        options.find((one) => one.category === category))
      : options.find((one) => one.id === id)
  const what = id ?? category ?? ''
  if (option === undefined) {
    const known = options.map((one) => one.id).join(', ')
    throw new VitrineError(
      'option_unknown',
      `The agent ${agent} has no option ${what}${known === '' ? '' : `; it has ${known}`}.`,
      { details: { agent, option: what } },
    )
  }
  const { choices } = option
  if (choices.length > 0 && !choices.some((choice) => choice.value === String(value))) {
    const known = choices.map((choice) => choice.value).join(', ')
    throw new VitrineError(
      'option_unknown',
      `The agent ${agent} has no ${what} "${String(value)}"; it has ${known}.`,
      { details: { agent, option: option.id, choices: choices.map((choice) => choice.value) } },
    )
  }
  return option
}

/** Throws when a session's model, mode or thought level is not one of its agent's. */
export function assertOptionsExist(
  agent: string,
  options: readonly KnownOption[],
  wanted: { readonly model?: string; readonly mode?: string; readonly thoughtLevel?: string },
): void {
  const { model, mode, thoughtLevel } = wanted
  if (model !== undefined) findOption(agent, options, { category: 'model' }, model)
  if (mode !== undefined) findOption(agent, options, { category: 'mode' }, mode)
  if (thoughtLevel !== undefined) findOption(agent, options, { category: 'thought_level' }, thoughtLevel)
}

/** Returns the options with a new current value of one of them. */
export function withCurrent(
  options: readonly KnownOption[],
  id: string,
  current: string | boolean,
): KnownOption[] {
  return options.map((option) => (option.id === id ? { ...option, current } : option))
}

/** Removes `via`, for lists and events. */
export function shownOptions(options: readonly KnownOption[]): ConfigOption[] {
  return options.map(({ via: _via, ...option }) => option)
}
