/** The player's script: it reverses challenges and signatures (`isSolved`). */
export const PLAYER_PATH = '/s/player/0a0a0a0a/player_ias.vflset/en_US/base.js';
export const PLAYER_SCRIPT = `var _yt_player={};(function(g){var window=this;var x={signatureTimestamp:20000};
var reverse=function(text){return text.split("").reverse().join("")};
g.Url=function(){this.values={}};
g.Url.prototype={set:function(k,v){this.values[k]=v},get:function(k){return this.values[k]},clone:function(){return this},
solve:function(){this.values.n=this.values.n&&reverse(this.values.n)}};
g.open=function(a,k,s){var u=new g.Url;u.set("alr","yes");
if(s)u.set(k,encodeURIComponent(reverse(decodeURIComponent(s))));return u};
})(_yt_player);`;
/** Names the player to clients without a page. */
export const IFRAME_API =
  "var scriptUrl = 'https:\\/\\/www.youtube.com\\/s\\/player\\/0a0a0a0a\\/www-widgetapi.vflset\\/www-widgetapi.js';";

const VERSION = '2.20260708.00.00';
const CONFIGURATION = {
  INNERTUBE_API_KEY: 'key',
  INNERTUBE_CONTEXT_CLIENT_NAME: 1,
  INNERTUBE_CLIENT_VERSION: VERSION,
  INNERTUBE_CONTEXT: { client: { clientName: 'WEB', clientVersion: VERSION, visitorData: 'Vmlz' } },
  VISITOR_DATA: 'Vmlz',
  STS: 20_000,
  PLAYER_JS_URL: PLAYER_PATH,
};

const page = (script: string, configuration: object = CONFIGURATION): string =>
  `<!doctype html><html><head><script>ytcfg.set(${JSON.stringify(configuration)});</script></head><body>${script}</body></html>`;

const assign = (name: string, value: object): string => `<script>var ${name} = ${JSON.stringify(value)};</script>`;

/** What stands around a video, as its page and as the response of `next`. */
export const NEXT_DATA = { contents: { twoColumnWatchNextResults: { results: { results: { contents: [] } } } } };

export const watchPage = (response: object): string =>
  page(assign('ytInitialPlayerResponse', response) + assign('ytInitialData', NEXT_DATA));

/** The player in a page of another site. */
export const embedPage = (): string => {
  const client = { clientName: 'WEB_EMBEDDED_PLAYER', clientVersion: '1.20260708.00.00', visitorData: 'Vmlz' };
  return page('', { ...CONFIGURATION, INNERTUBE_CONTEXT: { client }, INNERTUBE_CONTEXT_CLIENT_NAME: 56 });
};

export const listPage = (ids: readonly string[]): string => page(assign('ytInitialData', listData(ids)));

/** A playlist, as its page and as the response of `browse`. */
export const listData = (ids: readonly string[]): object => ({
  contents: { twoColumnBrowseResultsRenderer: { tabs: [{ tabRenderer: { selected: true, content: section(ids) } }] } },
  metadata: { playlistMetadataRenderer: { title: 'A list' } },
  sidebar: {},
});

const section = (ids: readonly string[]) => {
  const contents = ids.map((id, index) => ({ playlistVideoRenderer: entry(id, index + 1) }));
  const list = { playlistVideoListRenderer: { playlistId: 'PLlist', contents } };
  return { sectionListRenderer: { contents: [{ itemSectionRenderer: { contents: [list] } }] } };
};

const entry = (videoId: string, index: number) => ({
  videoId,
  index: { simpleText: String(index) },
  lengthSeconds: '6',
  isPlayable: true,
  title: { runs: [{ text: `Video ${videoId}` }] },
  shortBylineText: { runs: [{ text: 'A channel' }] },
});
