/** Configuration file of OpenCode and its forks. */
export const openCodeConfig = JSON.stringify(
  {
    autoupdate: false,
    share: 'disabled',
    model: 'custom/{model}',
    small_model: 'custom/{model}',
    enabled_providers: ['custom'],
    provider: {
      custom: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Custom',
        options: { baseURL: '{url}', apiKey: '{key}' },
        models: {
          '{model}': { name: '{model}', tool_call: true, limit: { context: 100_000, output: 4_096 } },
        },
      },
    },
    permission: { edit: 'ask', bash: 'ask' },
  },
  undefined,
  2,
)
