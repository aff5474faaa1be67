import { membersOf, numberOf } from '../../../clients/reelay-client/src/index.ts';
import type { ToolProgress } from './failure.ts';

/** Reads a header such as `step=fetch, tool="yt-dlp", received=12000000, total=34000000`; undefined without one. */
export function progressOf(headers: Headers): ToolProgress | undefined {
  const members = membersOf(headers, 'x-maintenance');
  const [step, tool] = [members.get('step'), members.get('tool')];
  return step && tool
    ? {
        step: step as ToolProgress['step'],
        tool: JSON.parse(tool),
        receivedBytes: numberOf(members.get('received')),
        totalBytes: numberOf(members.get('total')),
      }
    : undefined;
}
