/** API key variables of agents that support many model vendors. */
export const providerVariables = [
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'GEMINI_API_KEY',
  'OPENROUTER_API_KEY',
  'GROQ_API_KEY',
  'MISTRAL_API_KEY',
  'DEEPSEEK_API_KEY',
  'XAI_API_KEY',
] as const

/** `host:port` of the same vendors. */
export const providerEndpoints = [
  'api.anthropic.com:443',
  'api.openai.com:443',
  'generativelanguage.googleapis.com:443',
  'openrouter.ai:443',
  'api.groq.com:443',
  'api.mistral.ai:443',
  'api.deepseek.com:443',
  'api.x.ai:443',
] as const
