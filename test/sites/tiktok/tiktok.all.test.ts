import { delivers, describeSite, refuses, sounds } from '../describe-site.ts';
import { useSite } from '../use-site.ts';

// Pages are for browsers.
const tiktok = useSite('tiktok', { imitatesBrowser: true });

const postUrl = (number: number) => `https://www.tiktok.com/@someone/video/700000000000000000${number}`;

const ALL = {
  ytDlp: ['audio', 'bytevc2_1080p_700000', 'download', 'h264_360p_400000', 'h264_720p_900000'],
  video: ['h264_720p_900000', 'h264_360p_400000', 'download', 'bytevc2_1080p_700000'],
  audio: ['audio'],
};

describeSite('TikTok', tiktok, [
  delivers('a video to those who have the cookie of its page', postUrl(1), ALL),
  delivers('a link that the app shares', 'https://vm.tiktok.com/ZMabc123/', ALL),
  delivers('the other files when one is not there', postUrl(8), {
    ytDlp: ALL.ytDlp.filter((name) => name !== 'download'),
    video: ALL.video.filter((name) => name !== 'download'),
    audio: ALL.audio,
  }),
  delivers('the sound of pictures', postUrl(2), sounds('audio')),
  refuses('a private post', postUrl(3), /do not have permission/, '415 private'),
  refuses('a blocked address', postUrl(4), /IP address is blocked/, '415 bot-check'),
  refuses('a removed post', postUrl(5), /Video not available, status code 10231/, '404 not-found'),
  refuses('what is not for everyone', postUrl(6), /not be comfortable for some audiences/, '415 age'),
  refuses('what needs a login', postUrl(7), /requiring login/, '415 login'),
]);
