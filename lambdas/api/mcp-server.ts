import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import type { Event, Result } from '../http-handler.ts';
import type { Tool, ToolCall } from './mcp-tools.ts';

export interface ServeOptions {
  readonly tools: readonly Tool[];
  readonly call: ToolCall;
  /** The version of the service. */
  readonly version: string;
  /** Bytes of a message. */
  readonly maxBytes: number;
  /** What a tool has failed with, for the model that has called it. */
  readonly inWords: (error: unknown, tool: string) => string;
}

const INSTRUCTIONS =
  'Turns links to videos, songs and lists of them into files to download and transcripts. Start with fetch_media.';
/** Limit of a result's text, which a structured result repeats. Lambda limits a response to 6 MB. */
const MAX_ANSWER_BYTES = 2_000_000;
/** Request headers that the SDK reads. */
const HEADERS = /^(?:accept|content-type|mcp-[a-z-]+)$/;

/**
 * Answers one message of the Model Context Protocol, of any revision that the SDK knows, without keeping anything of it.
 *
 * `mcp.ts` loads it with the first message, from a bundle of its own (`infra/build/bundle.ts`): the SDK is half a megabyte, which a
 * cold start of the resolver need not read. So it imports only types of this project: classes of errors would be there twice.
 */
export async function serveMessage(event: Event, options: ServeOptions): Promise<Result> {
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  if (body.length > options.maxBytes) return refuse(413, -32000, `A message has at most ${options.maxBytes} bytes`);
  // The SDK serves what was checked here and never reads the body: it would take batches, each message of which may be a resolve.
  const message = parseJson(body.toString());
  if (message === undefined) return refuse(400, -32700, 'The body is not JSON in UTF-8');
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    return refuse(400, -32600, 'Send one message per request, as an object');
  const handler = createMcpHandler(() => createServer(options), {
    // Nothing changes that a client could subscribe to, and no host can keep a response open.
    maxSubscriptions: 0,
    keepAliveMs: 0,
  });
  const response = await handler.fetch(toRequest(event, options.call.context.signal), { parsedBody: message });
  const type = response.headers.get('content-type');
  return {
    statusCode: response.status,
    headers: { ...(type && { 'content-type': type }) },
    body: await response.text(),
  };
}

/** Undefined, which no JSON is, when the text is none. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param code an error of JSON-RPC 2.0 */
const refuse = (statusCode: number, code: number, message: string): Result => ({
  statusCode,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }),
});

function toRequest(event: Event, signal: AbortSignal | undefined): Request {
  const sent = Object.keys(event.headers ?? {}).filter((name) => HEADERS.test(name));
  return new Request('http://mcp.invalid/mcp', {
    method: 'POST',
    headers: sent.map((name) => [name, event.headers?.[name] ?? '']),
    ...(signal && { signal }),
  });
}

const failed = (text: string) => ({ isError: true, content: [{ type: 'text' as const, text }] });

function createServer({ tools, call, version, inWords }: ServeOptions): McpServer {
  const server = new McpServer(
    { name: 'reelay', title: 'Reelay', version },
    { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false } } },
  );
  for (const { name, title, description, input, output, run } of tools)
    server.registerTool(
      name,
      {
        title,
        description,
        inputSchema: fromJsonSchema<Record<string, string>>(input),
        ...(output && { outputSchema: fromJsonSchema(output) }),
        annotations: { readOnlyHint: true, openWorldHint: true },
      },
      async (args) => {
        try {
          const answer = await run(args, call);
          const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
          if (Buffer.byteLength(text) > MAX_ANSWER_BYTES) return failed('The answer is too large for one message.');
          const content = [{ type: 'text' as const, text }];
          // The text too, for clients of earlier revisions.
          return typeof answer === 'string' ? { content } : { content, structuredContent: { ...answer } };
        } catch (error) {
          return failed(inWords(error, name));
        }
      },
    );
  return server;
}
