import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../../support/listen.ts';

export interface EcsAgent {
  /** The `ECS_AGENT_URI` that ECS sets for a task. */
  readonly uri: string;
  /** The requested states, oldest first. */
  readonly states: Record<string, unknown>[];
  /** What it answers from now on. */
  answer: { readonly status: number; readonly body: unknown };
  close(): Promise<void>;
}

/** The part of the ECS agent that protects tasks. */
export async function startEcsAgent(): Promise<EcsAgent> {
  const states: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    const isKnown = request.method === 'PUT' && request.url === '/api/task-protection/v1/state';
    states.push(isKnown ? JSON.parse(await text(request)) : { unknown: `${request.method} ${request.url}` });
    response.writeHead(agent.answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(agent.answer.body));
  });
  const { url, close } = await listen(server);
  const agent: EcsAgent = {
    uri: `${url}/api`,
    states,
    answer: { status: 200, body: { protection: { ProtectionEnabled: true } } },
    close,
  };
  return agent;
}
