import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import type { Event, Result } from '../../middleware/index.ts';
import type { Tool, ToolCall } from './tool.ts';

export interface ServeOptions {
  readonly tools: readonly Tool[];
  readonly call: ToolCall;
  /** Of the service. */
  readonly version: string;
  /** Bytes of a message. */
  readonly maxBytes: number;
  /** What a tool has failed with, for the model that has called it. */
  readonly inWords: (error: unknown, tool: string) => string;
}

const INSTRUCTIONS =
  'Turns links to videos, songs and lists of them into files to download and transcripts. Start with fetch_media.';
/** Request headers that the SDK reads. */
const HEADERS = /^(?:accept|content-type|mcp-[a-z-]+)$/;

/**
 * Answers one message of the Model Context Protocol, of any revision that the SDK knows, without keeping anything of it.
 *
 * `mcp.ts` loads it with the first message, from a bundle of its own (`infra/build/bundle.ts`): the SDK is half a megabyte, which a
 * cold start of the resolver need not read. So it imports only types of this project: classes of errors would be there twice.
 */
export async function serveMessage(event: Event, options: ServeOptions): Promise<Result> {
  const body = bodyOf(event);
  // Revisions before 2025-06-18 had batches: of links to resolve, hundreds would fit into one request.
  if (/^\s*\[/.test(body.subarray(0, 64).toString())) return refuse('Send one message per request');
  const handler = createMcpHandler(() => createServer(options), {
    maxRequestBodySize: options.maxBytes,
    // Nothing changes that a client could subscribe to, and no host can keep a response open.
    maxSubscriptions: 0,
    keepAliveMs: 0,
  });
  const response = await handler.fetch(toRequest(event, body, options.call.context.signal));
  const type = response.headers.get('content-type');
  return {
    statusCode: response.status,
    headers: { ...(type && { 'content-type': type }) },
    body: await response.text(),
  };
}

const bodyOf = ({ body = '', isBase64Encoded }: Event): Buffer =>
  Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');

/** An error of JSON-RPC 2.0: an invalid request. */
const refuse = (message: string): Result => ({
  statusCode: 400,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', error: { code: -32600, message }, id: null }),
});

function toRequest(event: Event, body: Buffer, signal: AbortSignal | undefined): Request {
  const sent = Object.keys(event.headers ?? {}).filter((name) => HEADERS.test(name));
  return new Request('http://mcp.invalid/mcp', {
    method: 'POST',
    headers: sent.map((name) => [name, event.headers?.[name] ?? '']),
    body: new Uint8Array(body),
    ...(signal && { signal }),
  });
}

function createServer({ tools, call, version, inWords }: ServeOptions): McpServer {
  const server = new McpServer(
    { name: 'reelay', title: 'Reelay', version },
    { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false } } },
  );
  for (const { name, title, description, input, output, run } of tools)
    server.registerTool(
      name,
      {
        ...{ title, description, inputSchema: fromJsonSchema<Record<string, string>>(input) },
        ...(output && { outputSchema: fromJsonSchema(output) }),
        annotations: { readOnlyHint: true, openWorldHint: true },
      },
      async (args) => {
        try {
          const answer = await run(args, call);
          if (typeof answer === 'string') return { content: [{ type: 'text', text: answer }] };
          // The text too, for clients of earlier revisions.
          return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: { ...answer } };
        } catch (error) {
          return { isError: true, content: [{ type: 'text', text: inWords(error, name) }] };
        }
      },
    );
  return server;
}
