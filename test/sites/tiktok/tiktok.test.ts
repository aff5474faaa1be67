import { ytDlpWithCurlCffi } from '../../support/installed-tools.ts';
import { describeSite } from '../describe-site.ts';
import { useSite } from '../use-site.ts';
import { createTiktok, postUrl, SHORT_LINK } from './tiktok.ts';

// As the official builds have it: pages are for browsers.
const tiktok = useSite(await createTiktok(), { ytDlp: await ytDlpWithCurlCffi() });

const ALL = {
  ytDlp: ['audio', 'bytevc2_1080p_700000', 'download', 'h264_360p_400000', 'h264_720p_900000'],
  video: ['h264_720p_900000', 'h264_360p_400000', 'download', 'bytevc2_1080p_700000'],
  audio: ['audio'],
};

describeSite('TikTok', tiktok, [
  {
    title: 'delivers a video to those who have the cookie of its page',
    url: postUrl('7000000000000000001'),
    delivers: ALL,
  },
  { title: 'delivers a link that the app shares', url: SHORT_LINK, delivers: ALL },
  {
    title: 'leaves out a file that is not there',
    url: postUrl('7000000000000000008'),
    delivers: {
      ytDlp: ['audio', 'bytevc2_1080p_700000', 'h264_360p_400000', 'h264_720p_900000'],
      video: ['h264_720p_900000', 'h264_360p_400000', 'bytevc2_1080p_700000'],
      audio: ['audio'],
    },
  },
  {
    title: 'delivers the sound of pictures',
    url: postUrl('7000000000000000002'),
    delivers: { ytDlp: ['audio'], video: [], audio: ['audio'] },
  },
  {
    title: 'refuses a private post',
    url: postUrl('7000000000000000003'),
    refuses: { ytDlp: /do not have permission/, status: 415, type: 'private' },
  },
  {
    title: 'refuses a blocked address',
    url: postUrl('7000000000000000004'),
    refuses: { ytDlp: /IP address is blocked/, status: 415, type: 'bot-check' },
  },
  {
    title: 'refuses a removed post',
    url: postUrl('7000000000000000005'),
    refuses: { ytDlp: /Video not available, status code 10231/, status: 404, type: 'not-found' },
  },
  {
    title: 'refuses what is not for everyone',
    url: postUrl('7000000000000000006'),
    refuses: { ytDlp: /not be comfortable for some audiences/, status: 415, type: 'age' },
  },
  {
    title: 'refuses what needs a login',
    url: postUrl('7000000000000000007'),
    refuses: { ytDlp: /requiring login/, status: 415, type: 'login' },
  },
]);
