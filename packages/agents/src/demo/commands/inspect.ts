import type { ContentBlock, McpServer } from '@agentclientprotocol/sdk/unstable'
import { messageOf } from '../files.ts'
import { isHttp, McpClient } from '../mcp.ts'
import { firstWord } from '../prompt.ts'
import { openTool, textContent } from '../tool-call.ts'
import type { Turn } from '../turn.ts'

export async function echo(turn: Turn): Promise<void> {
  await turn.say(turn.prompt.map(describe).join('\n'))
}

function describe(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return `text, ${Buffer.byteLength(block.text)} bytes`
    case 'image':
    case 'audio':
      return `${block.type}, ${block.mimeType}, ${Buffer.from(block.data, 'base64').length} bytes`
    case 'resource_link':
      return `resource_link, ${block.uri}, ${block.size ?? 'unknown'} bytes`
    case 'resource': {
      const { resource } = block
      const size =
        'text' in resource ? Buffer.byteLength(resource.text) : Buffer.from(resource.blob, 'base64').length
      return `resource, ${resource.uri}, ${size} bytes`
    }
  }
}

export async function env(turn: Turn, name: string): Promise<void> {
  const value = process.env[name]
  await turn.say(value === undefined ? `${name} is not set.` : `${name} is set, ${value.length} characters.`)
}

export async function envValue(turn: Turn, name: string): Promise<void> {
  await turn.say(process.env[name] ?? '')
}

export async function mcp(turn: Turn): Promise<void> {
  const { mcpServers } = turn.session
  if (mcpServers.length === 0) await turn.say('No MCP servers.')
  for (const server of mcpServers) {
    await turn.say(
      `${server.name} (${'type' in server ? server.type : 'stdio'})${await toolNames(turn, server)}\n`,
    )
  }
}

async function toolNames(turn: Turn, server: McpServer): Promise<string> {
  if (!isHttp(server)) return ''
  try {
    const tools = await (await McpClient.open(server, turn.signal)).tools()
    return `: ${tools.map(({ name }) => name).join(', ')}`
  } catch (error) {
    turn.signal.throwIfAborted()
    return `: ${messageOf(error)}`
  }
}

export async function mcpCall(turn: Turn, argument: string): Promise<void> {
  const [name, json] = firstWord(argument)
  const input: unknown = JSON.parse(json || '{}')
  for (const server of turn.session.mcpServers.filter(isHttp)) {
    const client = await McpClient.open(server, turn.signal)
    const tools = await client.tools()
    if (!tools.some((tool) => tool.name === name)) continue
    const tool = await openTool(turn, {
      title: `${server.name}: ${name}`,
      kind: 'other',
      status: 'in_progress',
      rawInput: input,
    })
    try {
      const result = await client.call(name, input)
      await tool.complete({ content: [textContent(JSON.stringify(result))], rawOutput: result })
      await turn.say(JSON.stringify(result))
    } catch (error) {
      turn.signal.throwIfAborted()
      await tool.fail(messageOf(error))
      await turn.say(messageOf(error))
    }
    return
  }
  await turn.say(`No MCP server over HTTP has a tool ${name}.`)
}
