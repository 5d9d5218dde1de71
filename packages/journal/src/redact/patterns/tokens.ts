import { alphanumeric, digits, followedBy, lowerCase, pattern, type SecretPattern } from './pattern.ts'

// A token starts at a word boundary; `\n` in escaped text is a line end, not the letter n.
const edge = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))`
const end = '(?![A-Za-z0-9_-])'

const token = (name: string, grams: readonly string[], source: string): SecretPattern =>
  pattern(name, grams, new RegExp(source))

/** Tokens with a prefix of their issuer. */
export const tokenPatterns: readonly SecretPattern[] = [
  token('github-token', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], 'gh[pousr]_[A-Za-z0-9]{36,}'),
  token('github-token', ['github_pat_'], 'github_pat_[A-Za-z0-9_]{40,}'),
  token('gitlab-token', ['glpat-'], 'glpat-[A-Za-z0-9_.-]{20,}'),
  token(
    'gitlab-token',
    ['gldt-', 'glrt-', 'glptt-', 'glft-', 'glcbt-', 'glsoat-', 'gloas-', 'glimt-', 'glagent-'],
    'gl(?:dt|rt|ptt|ft|cbt|soat|oas|imt|agent)-[A-Za-z0-9_.-]{20,}',
  ),
  token('anthropic-key', ['sk-ant-'], `${edge}sk-ant-[A-Za-z0-9_-]{20,}`),
  token('openrouter-key', ['sk-or-'], `${edge}sk-or-[A-Za-z0-9_-]{20,}`),
  token(
    'openai-key',
    ['sk-proj-', 'sk-svcacct-', 'sk-admin-'],
    `${edge}sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}`,
  ),
  token('openai-key', followedBy('sk-', alphanumeric), `${edge}sk-[A-Za-z0-9]{32,}`),
  token('aws-access-key-id', ['AKIA', 'ASIA', 'ABIA', 'ACCA'], `${edge}A(?:KI|SI|BI|CC)A[A-Z2-7]{16}${end}`),
  token(
    'slack-token',
    ['xoxa', 'xoxb', 'xoxc', 'xoxd', 'xoxe', 'xoxo', 'xoxp', 'xoxr', 'xoxs'],
    `${edge}xox[a-eoprs](?:\\.xox[bp])?-[A-Za-z0-9%-]{16,}`,
  ),
  token('slack-token', ['xapp-'], `${edge}xapp-[0-9]-[A-Za-z0-9-]{16,}`),
  token(
    'slack-webhook',
    ['hooks.slack.com'],
    String.raw`(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[A-Za-z0-9/_-]{20,}`,
  ),
  token('google-api-key', ['AIza'], `${edge}AIza[A-Za-z0-9_-]{35}${end}`),
  token('google-oauth-token', ['ya29.'], `${edge}ya29\\.[A-Za-z0-9_-]{20,}`),
  token('google-oauth-secret', ['GOCSPX-'], `${edge}GOCSPX-[A-Za-z0-9_-]{20,}`),
  token('npm-token', ['npm_'], `npm_[A-Za-z0-9]{36}${end}`),
  token('pypi-token', ['pypi-'], `${edge}pypi-[A-Za-z0-9_-]{50,}`),
  token('docker-token', ['dckr_pat_', 'dckr_oat_'], `${edge}dckr_[po]at_[A-Za-z0-9_-]{20,}`),
  token(
    'stripe-key',
    ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'],
    `[sr]k_(?:live|test)_[A-Za-z0-9]{16,}`,
  ),
  token('webhook-secret', ['whsec_'], `${edge}whsec_[A-Za-z0-9+/]{24,}`),
  token('huggingface-token', followedBy('hf_', alphanumeric), `${edge}hf_[A-Za-z0-9]{34,}`),
  token(
    'sendgrid-key',
    followedBy('SG.', `${alphanumeric}_-`),
    `${edge}SG\\.[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}`,
  ),
  token('groq-key', ['gsk_'], `${edge}gsk_[A-Za-z0-9]{40,}`),
  token('xai-key', ['xai-'], `${edge}xai-[A-Za-z0-9]{40,}`),
  token('replicate-token', followedBy('r8_', alphanumeric), `${edge}r8_[A-Za-z0-9]{37}${end}`),
  token('perplexity-key', ['pplx-'], `${edge}pplx-[A-Za-z0-9]{40,}`),
  token('digitalocean-token', ['dop_v1_', 'doo_v1_', 'dor_v1_'], `${edge}do[por]_v1_[a-f0-9]{64}`),
  token('databricks-token', ['dapi'], `${edge}dapi[a-f0-9]{32}(?:-[0-9])?${end}`),
  token(
    'shopify-token',
    ['shpat_', 'shpca_', 'shppa_', 'shpss_'],
    `${edge}shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`,
  ),
  token('linear-key', ['lin_api_'], `${edge}lin_api_[A-Za-z0-9]{32,}`),
  token('notion-token', ['ntn_'], `${edge}ntn_[A-Za-z0-9]{40,}`),
  token('supabase-token', ['sbp_'], `${edge}sbp_[a-f0-9]{40}`),
  token('vault-token', ['hvs.', 'hvb.'], `${edge}hv[sb]\\.[A-Za-z0-9_-]{24,}`),
  token('grafana-token', ['glsa_', 'glc_'], `${edge}gl(?:sa|c)_[A-Za-z0-9+/=_-]{32,}`),
  token('atlassian-token', ['ATATT3'], `${edge}ATATT3[A-Za-z0-9_=-]{40,}`),
  token('e2b-key', ['e2b_'], `${edge}e2b_[a-f0-9]{40}`),
  token('daytona-key', ['dtn_'], `${edge}dtn_[a-f0-9]{64}`),
  token('age-key', ['AGE-SECRET-KEY-'], `${edge}AGE-SECRET-KEY-1[A-Z0-9]{50,}`),
  // The fourth base64 character of `{"a`, `{"b` …: a JWT header starts with a lower-case key.
  token(
    'jwt',
    followedBy('eyJ', `${lowerCase.slice(7)}${digits.slice(0, 7)}`),
    `${edge}eyJ[A-Za-z0-9_-]{14,}(?:\\.[A-Za-z0-9_-]*){2,4}`,
  ),
]
