import { delivers, describeSite, itDeliversList, refuses } from '../describe-site.ts';
import { useSite } from '../use-site.ts';

const bilibili = useSite('bilibili');
const videoUrl = (id: string) => `https://www.bilibili.com/video/${id}`;

describeSite('Bilibili', bilibili, [
  delivers('a video, whose media needs a Referer', videoUrl('BV1plain00001'), {
    ytDlp: ['100022', '100024', '30216', '30280'],
    video: ['100024+30280', '100022+30280'],
    audio: ['30280', '30216'],
    subtitles: ['danmaku', 'en'],
    listed: [],
  }),
  delivers('a part of a video', `${videoUrl('BV1parts00001')}?p=2`, {
    ytDlp: ['100022', '30216'],
    video: ['100022+30216'],
    audio: ['30216'],
    subtitles: ['danmaku', 'en'],
    listed: [],
  }),
  delivers('one file with both tracks', videoUrl('BV1oldmp40001'), {
    ytDlp: ['16'],
    video: ['16'],
    audio: ['16'],
    subtitles: ['danmaku', 'en'],
    listed: [],
  }),
  refuses('a deleted video', videoUrl('BV1deleted001'), /may be deleted/, '404 not-found'),
  refuses('a video that needs a login', videoUrl('BV1members001'), /registered users/, '415 login'),
  refuses('a video for supporters', videoUrl('BV1support001'), /supporter-only/, '415 members'),
  refuses('a client that asks too much', videoUrl('BV1toofast001'), /exceeded the rate limit/, '502 rate-limited'),
  refuses('a blocked client', videoUrl('BV1banned0001'), /HTTP Error 412/, '415 refused'),
  refuses(
    'a client that the API asks to wait',
    videoUrl('BV1riskctl001'),
    /No video formats found/,
    '502 rate-limited',
  ),
]);

itDeliversList('the parts of a video', bilibili, videoUrl('BV1parts00001'), {
  titles: ['Video p01 First', 'Video p02 Second'],
  streams: ['100024+30280', '100022+30216'],
});
itDeliversList('the files of a video', bilibili, videoUrl('BV1files00001'), {
  titles: ['Video', 'Video'],
  streams: ['64', '64'],
});
