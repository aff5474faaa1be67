/** Expected orders of the lists in `format-lists/`, best first. A pair is written `video+audio`. */
export interface ExpectedOrder {
  readonly video?: string;
  readonly audio?: string;
  /** Why the best differs from yt-dlp's pick; absent where it does not. */
  readonly differs?: string;
}

export const expectedOrders: Readonly<Record<string, ExpectedOrder>> = {
  'bilibili-4k-hdr-dolby-flac': {
    video:
      '100140-0+30280 100140-1+30280 100120+30280 100126+30280 100125+30280 100100+30280 100080+30280 100084+30280',
    audio: '30251 30250 30280 30232 30216',
    differs: 'SDR and H.264 before Dolby Vision, and AAC before FLAC: more players support them',
  },
  'hls-languages-and-description': {
    video: 'hls-6500+hls-a-Originalton hls-1400+hls-a-Originalton',
    audio: 'hls-a-Originalton hls-a-Deutsch hls-a-Audiodeskription',
  },
  soundcloud: {
    audio: 'hls_aac_160k http_mp3_0_0 hls_mp3_0_0 hls_opus_0_0',
  },
  'tiktok-unplayable-top': {
    video: 'bytevc1_720p_1020963 play h264_540p_1320963 download bytevc2_1080p_900000',
    audio: 'audio',
  },
  'tiktok-video-only-and-music': {
    video:
      'bytevc1_1080p_1620963 bytevc1_1080p_2520963+audio bytevc1_720p_1020963 play h264_540p_1320963 bytevc1_540p_700963 download bytevc2_1080p_900000',
    audio: 'audio',
  },
  tiktok: {
    video: '0',
  },
  'twitch-clip': {
    video: '1080 720 480 360',
  },
  twitter: {
    video:
      'http-10368 hls-9981+hls-audio-128000-Audio http-2176 hls-2491+hls-audio-128000-Audio http-832 hls-891+hls-audio-128000-Audio http-256 hls-279+hls-audio-128000-Audio',
    audio: 'hls-audio-128000-Audio hls-audio-64000-Audio hls-audio-32000-Audio',
    differs: 'a file can be resumed and sought; yt-dlp prefers the known codecs of HLS',
  },
  vimeo: {
    video:
      'http-1080p hls-fastly_skyfire-4600+hls-fastly_skyfire-audio-high-Original http-720p hls-fastly_skyfire-2100+hls-fastly_skyfire-audio-high-Original http-360p hls-fastly_skyfire-400+hls-fastly_skyfire-audio-high-Original',
    audio: 'hls-fastly_skyfire-audio-high-Original hls-fastly_skyfire-audio-medium-Original',
  },
  'youtube-2023-hls-and-https': {
    video:
      '137+140 399+140 248+140 270+234 614+234 136+140 398+140 247+140 232+234 609+234 22 135+140 397+140 244+140 231+234 606+234 18 134+140 396+140 243+140 230+234 605+234 133+140 395+140 242+140 229+234 604+234 160+140 597+140 394+140 278+140 598+140 269+234 603+234 602+234 17',
    audio: '251 140 250 249 139 600 599 234 233',
    differs: 'H.264 before VP9, and AAC as the sound of an MP4',
  },
  'youtube-2024-a': {
    video:
      '313+140 625+234 271+140 620+234 137+140 248+140 270+234 614+234 136+140 247+140 232+234 609+234 22 135+140 244+140 231+234 606+234 18 134+140 243+140 230+234 605+234 133+140 242+140 229+234 604+234 160+140 597+140 278+140 598+140 269+234 603+234 602+234',
    audio: '251 140 250 249 139 600 599 234 233',
    differs: 'AAC as the sound of an MP4',
  },
  'youtube-drc-and-damaged': {
    video: '248+140 137+140',
    audio: '251 140 251-drc 140-drc',
    differs: 'AAC as the sound of an MP4',
  },
  'youtube-hdr-60fps': {
    video:
      '272+140 315+140 337+140 308+140 336+140 299+140 303+140 335+140 298+140 22 136+140 302+140 247+140 334+140 135+140 244+140 333+140 18 134+140 243+140 332+140 133+140 242+140 331+140 160+140 278+140 330+140',
    audio: '251 140 250 249',
    differs: 'the list is of an old release, whose sorting put HDR and bitrate before resolution',
  },
  'youtube-vertical': {
    video: '137+140 136+140',
    audio: '140',
  },
  'm3u8 img_bipbop_adv_example_fmp4.m3u8': {
    video:
      '8190+aud2-English 7998+aud2-English 7968+aud2-English 6392+aud2-English 6200+aud2-English 6170+aud2-English 4893+aud2-English 4701+aud2-English 4670+aud2-English 3391+aud2-English 3199+aud2-English 3168+aud2-English 2390+aud2-English 2198+aud2-English 2168+aud2-English 1487+aud2-English 1295+aud2-English 1265+aud2-English 1118+aud2-English 926+aud2-English 895+aud2-English 753+aud2-English 561+aud2-English 530+aud2-English',
    audio: 'aud2-English aud3-English aud1-English',
  },
  'm3u8 bipbop_16x9.m3u8': {
    video: '1924 1030 915 577 263',
    audio: '41 bipbop_audio-BipBop_Audio_2',
  },
  'mpd supplemental_codecs.mpd': {
    video: 'VIDEO-1+AUDIO-1 VIDEO-2+AUDIO-1',
    audio: 'AUDIO-1',
  },
  'mpd float_duration.mpd': {
    video: '5997485+318597-0 3998017+318597-0 2046506+318597-0 1022565+318597-0 638590+318597-0 318597-1+318597-0',
    audio: '318597-0',
  },
  'mpd subtitles.mpd': {
    video:
      'video=4482000+audio=128001 video=1493000+audio=128001 video=698000+audio=128001 video=326000+audio=128001 video=100000+audio=128001',
    audio: 'audio=128001',
  },
  'mpd unfragmented.mpd': {
    video: 'VIDEO-1+AUDIO-1 VIDEO-2+AUDIO-1',
    audio: 'AUDIO-1',
  },
  'mpd urls_only.mpd': {
    video:
      'h264_aac_1080p_m4s h264_aac_720p_m4s h264_aac_576p_m4s h264_aac_480p_m4s h264_aac_360p_m4s h264_aac_240p_m4s h264_aac_144p_m4s',
  },
  Reddit: {
    video: 'dash-video-0+dash-audio-1 fallback+dash-audio-1 hls-2960+hls-a-Default hls-1300+hls-a-Default',
    audio: 'dash-audio-1 hls-a-Default',
    differs: 'files of one MP4 pair before HLS',
  },
  ArchiveOrg: {
    video: '0 1 2',
  },
  'ArchiveOrg audio': {
    audio: '0 2 1',
  },
  Facebook: {
    video: '101v+102a 100v+102a hd sd',
    audio: '102a',
  },
  Instagram: {
    video: 'dash-v1+dash-a1 0 dash-v2+dash-a1',
    audio: 'dash-a1',
  },
  Rumble: {
    video: 'mp4-1080p-0 hls-2000 mp4-480p webm-480p',
    audio: 'audio-192p',
  },
  ZDF: {
    video: 'hls-main-6590 hls-ad-6590 hls-main-6590-dgs http-main hls-main-3290 hls-ad-3290 hls-main-3290-dgs',
  },
  ARDMediathek: {
    video: 'http-main http-main-ov http-main-ad http-sign-language',
  },
  ArteTV: {
    video:
      'VA-STA-2200+VA-STA-a-Deutsch VAAUD-2200+VA-STA-a-Deutsch VOF-STF-2200+VA-STA-a-Deutsch VA-STA-1100+VA-STA-a-Deutsch VAAUD-1100+VA-STA-a-Deutsch VOF-STF-1100+VA-STA-a-Deutsch',
    audio: 'VA-STA-a-Deutsch VOF-STF-a-Französisch__Original_ VAAUD-a-Deutsch__Audiodeskription_',
  },
  Dailymotion: {
    video: 'http-720 hls-720 http-480 hls-480',
  },
  TwitchVod: {
    video: 'Source 3400 1400',
    audio: 'Audio_Only',
  },
  'TwitchClips with portrait': {
    video: '1080 portrait-1080 480 portrait-480',
  },
  Bandcamp: {
    audio: 'flac mp3-320 aac-hi vorbis mp3-128',
  },
  'Soundcloud preview and original': {
    audio: 'download hls_aac_256 http_mp3_128 hls_mp3_preview',
  },
  Imgur: {
    video: 'mp4 webm',
  },
  NineGag: {
    video: '460sv 460svav1 460svh265 460svvp9',
    differs: 'H.264, although unnamed, before AV1',
  },
  Odnoklassniki: {
    video: 'hls-4000 hls-500 full hd sd low lowest mobile',
    differs: 'a known resolution before an unknown one; resolving probes the files and then knows theirs',
  },
  VK: {
    video: 'url720 dash_sep-7+dash_sep-8 hls-2500 url240',
    audio: 'dash_sep-8',
    differs: 'a file before HLS, higher source_preference',
  },
  Brightcove: {
    video: 'hls-2100 http-500k-360p http-streaming-500k-360p hls-560',
    audio: 'http-64k',
  },
  LinkedInLearning: {
    video: 'progressive-720p hls-1900 progressive-360p',
    differs: 'a file before HLS, higher source_preference',
  },
  Streamable: {
    video: 'mp4 mp4-mobile',
  },
  PeerTube: {
    video: '1080p hls-4300 480p hls-900',
    audio: '0p',
    differs: 'a file before HLS',
  },
  TedTalk: {
    video: 'download hls-1700 hls-330 http-0',
    audio: 'hls-70',
  },
  'BiliBili FLV in two parts': {
    video: '64 32',
  },
  QQMusic: {
    audio: 'F000 A000 M800 M500 C400',
  },
  'Youtube dubbed': {
    video: '137+140-1 18 134+140-1',
    audio: '251-1 140-1 251-1-drc 140-1-drc 251-0 140-0 251-2 140-2',
    differs: 'AAC as the sound of an MP4',
  },
  'Youtube live': {
    video: '96 94 91',
  },
  'Youtube premium and possibly protected': {
    video: '616+a-Default 137+140 270+a-Default',
    audio: '140 a-Default',
    differs: 'audio of the same manifest, which has the timeline of the video',
  },
  BrainPOP: {
    video: 'en-high es-high ad-high',
  },
  Yappy: {
    video: '1 0',
  },
  Coub: {
    video: 'html5-video-high+mobile-audio-0 html5-video-med+mobile-audio-0 mobile-video',
    audio: 'html5-audio-high html5-audio-med mobile-audio-0',
    differs: 'AAC as the sound of an MP4',
  },
  'HLS without CODECS with an audio group': {
    video: 'hls-6800+hls-a-English hls-1900+hls-a-English',
    audio: 'hls-a-English hls-a-Français',
    differs: 'the variants name an audio group: alone they may be silent',
  },
  'HLS with several languages and a description': {
    video: 'hls-6800+hls-a-English',
    audio: 'hls-a-English hls-a-Français hls-a-English__Audio_Description_',
  },
  GoogleDrive: {
    video: '37 18 source',
    differs: 'a known resolution before an unknown one; resolving probes the file and then knows its own',
  },
  'yt-dlp test: video-only and complete': {
    video: 'vid',
  },
  'yt-dlp test: audio extensions': {
    audio: 'aac-64 mp3-64 ogg-64 aac-32 mp3-32',
  },
  'yt-dlp test: audio alone': {
    audio: 'high low',
  },
  'yt-dlp test: taller without audio': {
    video: 'regular',
  },
};
