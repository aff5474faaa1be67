import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished } from 'vitest';

interface McpClientOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** @default that of Node */
  readonly fetch?: typeof fetch;
  /** The handshake of 2025, which most clients have, or the revision without one. @default 'legacy' */
  readonly mode?: 'legacy' | 'auto';
}

/** The SDK's own client, connected to an instance until the test ends. */
export async function connectMcp(baseUrl: string, { headers = {}, fetch, mode = 'legacy' }: McpClientOptions = {}) {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const requestInit = { headers };
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', baseUrl), { requestInit, ...(fetch && { fetch }) }),
  );
  onTestFinished(() => client.close());
  return {
    client,
    /** Calls a tool. */
    async call(name: string, args: Record<string, unknown>) {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
      const [first] = content;
      const text = first?.type === 'text' ? first.text : expect.fail('The answer is no text');
      return { text, data: structuredContent as never, isError: isError === true };
    },
  };
}

/** The headers of a message without the SDK. */
export const MESSAGE_HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

export const messageOf = (method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
