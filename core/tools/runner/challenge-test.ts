import type { YtDlp } from '../tools.ts';
import { WorkerKilled, type WorkerProcess } from '../worker/index.ts';

/** What yt-dlp-ejs looks for in a player of YouTube: a function that makes a URL, whose method transforms `n`. */
const PLAYER = `var _yt_player={};(function(g){var window=this;
g.Url=function(){this.values={}};
g.Url.prototype={set:function(k,v){this.values[k]=v},get:function(k){return this.values[k]},
clone:function(){return this},solve:function(){this.values.n=this.values.n.split("").reverse().join("")}};
g.open=function(a,k,s){var u=new g.Url;u.set("alr","yes");if(s)u.set(k,s);return u};
})(_yt_player);`;
const [CHALLENGE, SOLUTION] = ['abcdef', 'fedcba'];

/** A release of yt-dlp is incomplete: YouTube needs what it lacks. */
export class IncompleteRelease extends Error {
  override readonly name = 'IncompleteRelease';
}

/**
 * Has yt-dlp solve a JavaScript challenge of an invented player. A yt-dlp that cannot do so still resolves links of other
 * sites, and later versions may look for other players: that is only reported, but a release that lacks its scripts fails.
 * @throws IncompleteRelease; WorkerKilled
 */
export async function testChallenge(
  worker: WorkerProcess,
  { source }: YtDlp,
  request: Parameters<WorkerProcess['request']>[0],
  onUnsolved: (reason: string) => void,
): Promise<void> {
  const answer = await worker.request({ ...request, player: { code: PLAYER, n: CHALLENGE } });
  if (answer.ok) {
    const solution = 'info' in answer ? answer.info.n : undefined;
    if (solution !== SOLUTION) onUnsolved('its scripts do not read the player of the test');
    return;
  }
  const { kind, message = kind, isInterrupted } = answer.error;
  if (isInterrupted) throw new WorkerKilled('yt-dlp was killed during its smoke test');
  const isOfficial = source === 'release' || source === 'pypi';
  if (kind === 'expected' && isOfficial) throw new IncompleteRelease(message);
  onUnsolved(message);
}
