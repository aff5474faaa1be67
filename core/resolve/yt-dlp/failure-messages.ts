import type { AbsenceReason, RefusalReason, UpstreamReason } from '../../errors/index.ts';

export type Reason = AbsenceReason | RefusalReason | UpstreamReason;

/**
 * What messages of extractors say. The first that matches decides: many messages also say that the media is unavailable, or
 * that one should sign in.
 */
const MESSAGES: readonly (readonly [RegExp, Reason])[] = [
  [/\bdrm\b/i, 'drm'],
  [/rate[- ]?limit|try (?:again )?later|too many requests/i, 'rate-limited'],
  [
    /(?:not|n['’]t) a (?:ro)?bot|anti-?bot|captcha|tls fingerprint|\bips? (?:address )?(?:is|has been) .*block|unusual traffic/i,
    'bot-check',
  ],
  [/\bage\b|inappropriate|\bnsfw\b|\b(?:adults|mature)\b|for some audiences|years old/i, 'age'],
  [/members?\b|premium|subscri|patrons?\b|supporters?\b|join this channel/i, 'members'],
  [/purchase|rent(?:al|ed)?\b|\bbuy\b|\bpa(?:id|y|yment)\b/i, 'payment'],
  [/private|protected|authori[sz]ed|have permission/i, 'private'],
  // Sites that do not say which of the two it is respond as to what does not exist.
  [/(?:deleted|removed) or geo/i, 'not-found'],
  [/\bgeo\b|\bgeo-|geo-?(?:block|restrict)|(?:your|this) (?:country|region|location)|countr(?:y|ies)/i, 'region'],
  [/log(?:ged)?[ -]?in\b|sign(?:ed)?[ -]?in\b|password|registered users|authentication/i, 'login'],
  [
    /will begin|premieres?\b|(?:not|n['’]t) (?:yet )?(?:started|begun|aired)|is not (?:currently )?live|offline/i,
    'not-started',
  ],
  [/has ended|recording is (?:not|un)/i, 'ended'],
  [/no longer|deleted|removed|expired|terminated|suspended|taken down/i, 'gone'],
  [/no (?:video|media|audio|formats)/i, 'no-media'],
  [/not found|unavailable|(?:not|n['’]t) available|(?:does|did)(?:n['’]t| not) exist|\b404\b/i, 'not-found'],
  [/confirm you|forbidden|not allowed/i, 'refused'],
];

/** The reason that the message of an extractor names, if any. Links in it are advice of yt-dlp. */
export function reasonOfMessage(message = ''): Reason | undefined {
  const text = message.replace(/https?:\/\/\S+/g, '');
  return MESSAGES.find(([said]) => said.test(text))?.[1];
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3600, day: 86_400 };

/** The time of "will begin in 5 hours" or "up to an hour", in seconds. */
export function secondsOfMessage(message = ''): number | undefined {
  const [, count = '', unit = ''] = /\b(?:in|to) (\d{1,3}|an?) (second|minute|hour|day)/i.exec(message) ?? [];
  const seconds = UNIT_SECONDS[unit.toLowerCase()];
  return seconds && seconds * (/^an?$/i.test(count) ? 1 : Number(count));
}
