import { ytDlpWithCurlCffi } from '../../support/installed-tools.ts';
import { delivers, describeSite, refuses } from '../describe-site.ts';
import { useSite } from '../use-site.ts';
import { createTiktok, postUrl, SHORT_LINK } from './tiktok.ts';

// As the official builds have it: pages are for browsers.
const tiktok = useSite(createTiktok(), { ytDlp: await ytDlpWithCurlCffi() });

const ALL = {
  ytDlp: ['audio', 'bytevc2_1080p_700000', 'download', 'h264_360p_400000', 'h264_720p_900000'],
  video: ['h264_720p_900000', 'h264_360p_400000', 'download', 'bytevc2_1080p_700000'],
  audio: ['audio'],
};

describeSite('TikTok', tiktok, [
  delivers('a video to those who have the cookie of its page', postUrl('7000000000000000001'), ALL),
  delivers('a link that the app shares', SHORT_LINK, ALL),
  delivers('the other files when one is not there', postUrl('7000000000000000008'), {
    ytDlp: ALL.ytDlp.filter((name) => name !== 'download'),
    video: ALL.video.filter((name) => name !== 'download'),
    audio: ALL.audio,
  }),
  delivers('the sound of pictures', postUrl('7000000000000000002'), { ytDlp: ['audio'], audio: ['audio'] }),
  refuses('a private post', postUrl('7000000000000000003'), /do not have permission/, '415 private'),
  refuses('a blocked address', postUrl('7000000000000000004'), /IP address is blocked/, '415 bot-check'),
  refuses('a removed post', postUrl('7000000000000000005'), /Video not available, status code 10231/, '404 not-found'),
  refuses(
    'what is not for everyone',
    postUrl('7000000000000000006'),
    /not be comfortable for some audiences/,
    '415 age',
  ),
  refuses('what needs a login', postUrl('7000000000000000007'), /requiring login/, '415 login'),
]);
