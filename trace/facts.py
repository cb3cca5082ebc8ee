"""Questions with a passage that answers each, in English and in Japanese: what `agreement.py` asks models.

The passages are made up. Many are alike, so that a context of several of them has more than one likely answer.
"""

ENGLISH = [
    (
        "Who opened the bakery on Mill Street?",
        "The bakery on Mill Street was opened in 1962 by Agnes Porter, whose grandson still runs it. It sells forty "
        "kinds of bread and, on Sundays only, a plum cake.",
    ),
    (
        "When was the old harbour bridge closed to traffic?",
        "The old harbour bridge carried carts, trams and later lorries. Cracks were found in its eastern pillar, and "
        "it was closed to traffic in March 1978. Since then only people on foot may cross.",
    ),
    (
        "How long is the river Anner?",
        "The river Anner rises in the Bleak Hills and flows for 214 kilometres to the western sea. Its largest "
        "tributary, the Sorrel, is only 80 kilometres long.",
    ),
    (
        "What did the expedition of 1911 fail to find?",
        "Two expeditions looked for the northern passage. That of 1908 found it but lost a ship; that of 1911 mapped "
        "the whole coast and failed to find the missing crew.",
    ),
    (
        "Why do the swallows leave the valley early?",
        "The swallows leave the valley in August, weeks before those of the plain, because the insects they live on "
        "vanish after the first cold nights.",
    ),
    (
        "Which metal is the statue in front of the station made of?",
        "A statue of a railway worker stands in front of the station. It was cast in bronze in 1934; the copy in the "
        "museum is of plaster and painted to look like iron.",
    ),
    (
        "Who defeated the governor at the election?",
        "At the election of 1896 the governor, Samuel Reed, was defeated by a schoolteacher, Clara Whitcombe. She "
        "held the office for eight years and did not stand again.",
    ),
    (
        "Where do the turtles lay their eggs?",
        "The turtles spend most of the year in the open sea. In May they return to the beaches of the southern "
        "island, where they lay their eggs at night above the line of high water.",
    ),
    (
        "How many students attended the college in 2005?",
        "The college began in 1921 with 34 students. By 1970 there were 800, and in 2005 it was attended by 2,450 "
        "students from thirty countries.",
    ),
    (
        "What is the main export of the province?",
        "The province lives on farming. Its main export is olive oil, followed by almonds and dried figs; wine is "
        "made for the villages alone.",
    ),
    (
        "Who composed the anthem of the republic?",
        "The words of the republic's anthem are by the poet Ilse Brandt. Its music was composed by her "
        "brother-in-law, Konrad Velm, in a single night.",
    ),
    (
        "What caused the fire in the theatre?",
        "In 1887 the theatre burnt down within three hours. The fire was caused by a gas lamp that had been placed "
        "too close to a curtain, and not by lightning, as was first reported.",
    ),
    (
        "At what temperature does the alloy melt?",
        "Pure tin melts at 232 degrees Celsius and lead at 327. The alloy of the two that plumbers used melts at 183 "
        "degrees, lower than either.",
    ),
    (
        "Which language do the islanders speak at home?",
        "All schools of the islands teach in English. At home most islanders speak Norn, and in church they sing in "
        "Latin.",
    ),
    (
        "When did the factory begin to make bicycles?",
        "The factory was founded in 1869 to make sewing machines. In 1891 it began to make bicycles, and in 1904 its "
        "first motor cars.",
    ),
    (
        "Who translated the chronicle into French?",
        "The chronicle was written in Latin by a monk called Odo. Pierre Lanvin translated it into French in 1530; "
        "the German version by Hans Mertel is later and shorter.",
    ),
    (
        "How tall is the television tower?",
        "From the foot to the tip of its antenna the television tower is 281 metres tall. Visitors may go up to the "
        "platform at a height of 160 metres.",
    ),
    (
        "What do the monks sell at the market?",
        "On Thursdays the monks come down to the market to sell honey and candles. Their beer may only be drunk in "
        "the monastery itself.",
    ),
    (
        "Which planet did the probe pass first?",
        "The probe was launched in 1997. It passed Venus twice before it reached Jupiter, and arrived at Saturn after "
        "seven years.",
    ),
    (
        "What was the name of the queen's youngest daughter?",
        "The queen had three daughters. Margaret, the eldest, married a duke; Eleanor became an abbess; Blanche, the "
        "youngest, ruled after her mother's death.",
    ),
    (
        "How often does the geyser erupt?",
        "Of the three geysers in the park only one is regular: it erupts every 74 minutes. The second has been silent "
        "since 1959.",
    ),
    (
        "Who owns the largest share of the company?",
        "The company is owned by its 3,000 workers, the city and a pension fund. The largest share, 46 percent, is "
        "owned by the pension fund.",
    ),
    (
        "What did the doctor prescribe against the fever?",
        "Against the fever the doctor prescribed a tea made of willow bark, and against the cough nothing but rest "
        "and warm milk.",
    ),
    (
        "In which year did the two villages merge?",
        "The two villages shared a church from 1740 and a school from 1868. They merged in 1923, after a vote that "
        "was won by nine voices.",
    ),
    (
        "What is the nickname of the football club?",
        "The football club was founded by dockers and is nicknamed the Herons, after the birds on the town's coat of "
        "arms. Its ground holds 12,000 people.",
    ),
    (
        "Who discovered the cave with the paintings?",
        "In 1940 the cave with the paintings was discovered by four boys who were looking for their dog. The first "
        "scholar to describe it was Father Lucas Amiel.",
    ),
    (
        "What does the word 'sauna' originally mean?",
        "The word sauna comes from Finnish, where it originally means a winter dwelling dug into a slope. Only later "
        "did it become the word for a bath.",
    ),
    (
        "Which animal is shown on the coin of 1850?",
        "The coin of 1820 shows a horse and that of 1850 a bear. Both bear the head of the king on the other side.",
    ),
    (
        "How much did the new library cost?",
        "The city had planned to spend 18 million dollars on the new library. In the end it cost 27 million dollars, "
        "a third of which was given by readers.",
    ),
    (
        "Where was the treaty signed?",
        "The talks began in Geneva and went on in Vienna. The treaty was signed in a railway carriage near Trieste, "
        "on neutral ground.",
    ),
    (
        "What instrument did the composer play as a child?",
        "As a child the composer played the viola in his uncle's orchestra. He learnt the piano at nineteen and "
        "always called it his second language.",
    ),
    (
        "Why was the railway line never finished?",
        "Forty kilometres of the railway line were built before the war. It was never finished because the bank that "
        "paid for it failed in 1931.",
    ),
    (
        "Who was the first woman to climb the mountain?",
        "The mountain was first climbed by two brothers in 1865. The first woman to climb it was Lucy Hartmann, six "
        "years later and by a harder route.",
    ),
    (
        "What grows on the terraces above the lake?",
        "On the terraces above the lake lemons grow, sheltered by walls; the fields by the shore are too wet for "
        "anything but rice.",
    ),
    (
        "How many islands belong to the archipelago?",
        "The archipelago consists of 63 islands, of which 11 are inhabited. The largest is joined to the mainland by "
        "a tunnel.",
    ),
    (
        "What replaced the steam engines of the mill?",
        "The mill was driven by water at first and by two steam engines from 1852. In 1910 these were replaced by "
        "electric motors.",
    ),
    (
        "Which court heard the appeal?",
        "The district court found the captain guilty. His appeal was heard by the Court of Admiralty, which set him "
        "free within a week.",
    ),
    (
        "What is stored in the salt mine?",
        "The salt mine has been empty since 1989. Today the films of the national archive are stored in it, because "
        "the air is dry and always cool.",
    ),
    (
        "Who designed the gardens of the palace?",
        "The palace was built by an Italian architect. Its gardens were designed by Johanna Silber, who had studied "
        "in Kyoto, and took eleven years to plant.",
    ),
    (
        "When do the shops in the old town close?",
        "The shops in the old town open at ten and close at half past six, on Saturdays at four. The covered market "
        "is open until nine.",
    ),
]

JAPANESE = [
    ("水車通りのパン屋を開いたのは誰ですか？", "水車通りのパン屋は1962年に森田節子が開きました。今は孫が店を継いでいます。日曜日だけ、すもものケーキを売ります。"),
    ("古い港の橋はいつ通行止めになりましたか？", "古い港の橋は荷車や路面電車を通していました。東側の柱にひびが見つかり、1978年3月に通行止めになりました。"),
    ("安根川の長さはどれくらいですか？", "安根川は北の山地から西の海まで214キロメートルを流れます。最大の支流である空知川は80キロメートルしかありません。"),
    ("1911年の探検隊は何を見つけられませんでしたか？", "探検隊は二度送られました。1908年の隊は航路を見つけましたが船を失いました。1911年の隊は海岸の地図を作りましたが、行方不明の乗組員を見つけられませんでした。"),
    ("つばめはなぜ早く谷を去りますか？", "谷のつばめは8月に去ります。最初の寒い夜のあと、食べ物である虫がいなくなるからです。"),
    ("駅前の像は何でできていますか？", "駅前には鉄道員の像が立っています。像は1934年に青銅で作られました。博物館にある写しは石膏でできています。"),
    ("選挙で知事に勝ったのは誰ですか？", "1896年の選挙では、教師の白石春子が知事の大森一郎に勝ちました。白石は八年間その職にありました。"),
    ("海亀はどこに卵を産みますか？", "海亀は一年の大半を沖で過ごします。5月になると南の島の砂浜に戻り、夜のあいだに卵を産みます。"),
    ("2005年の大学の学生数は何人でしたか？", "大学は1921年に34人の学生で始まりました。1970年には800人、2005年には2450人の学生がいました。"),
    ("この県の主な輸出品は何ですか？", "この県の人々は農業で暮らしています。主な輸出品はオリーブ油で、次はアーモンドと干しいちじくです。"),
    ("国歌を作曲したのは誰ですか？", "国歌の歌詞は詩人の石井花が書きました。曲は義理の弟である田村健が一晩で作曲しました。"),
    ("劇場の火事の原因は何でしたか？", "1887年、劇場は三時間で燃え尽きました。原因は幕の近くに置かれたガス灯で、初めに言われた落雷ではありませんでした。"),
    ("この合金は何度で溶けますか？", "錫は232度、鉛は327度で溶けます。この二つの合金はどちらよりも低い183度で溶けます。"),
    ("島の人々は家で何語を話しますか？", "島の学校では英語で教えます。家では多くの人がノルン語を話し、教会ではラテン語で歌います。"),
    ("工場はいつ自転車を作り始めましたか？", "工場は1869年にミシンを作るために建てられました。1891年に自転車を、1904年に自動車を作り始めました。"),
    ("年代記をフランス語に訳したのは誰ですか？", "年代記は修道士のオドがラテン語で書きました。1530年にピエール・ランヴァンがフランス語に訳しました。ドイツ語訳はそれより後のものです。"),
    ("テレビ塔の高さは何メートルですか？", "テレビ塔の高さは281メートルです。見学者は160メートルの高さにある展望台まで上れます。"),
    ("修道士たちは市場で何を売りますか？", "木曜日になると修道士たちは市場に来て、蜂蜜とろうそくを売ります。ビールは修道院の中でしか飲めません。"),
    ("探査機は最初にどの惑星を通りましたか？", "探査機は1997年に打ち上げられました。まず金星を二度通り、木星を経て、七年後に土星に着きました。"),
    ("女王の末の娘の名前は何ですか？", "女王には三人の娘がいました。長女のマルガレーテは公爵と結婚し、次女のエレオノーレは修道院に入り、末の娘のブランカが国を継ぎました。"),
    ("間欠泉は何分ごとに噴き出しますか？", "公園には三つの間欠泉があります。そのうち一つだけが規則正しく、74分ごとに噴き出します。二つ目は1959年から静かなままです。"),
    ("会社の株を最も多く持っているのは誰ですか？", "会社の株は3000人の社員と市と年金基金が持っています。最も多く持っているのは年金基金で、46パーセントです。"),
    ("医者は熱に何を処方しましたか？", "医者は熱には柳の皮の茶を処方しました。咳には休むことと温かい牛乳のほか何も出しませんでした。"),
    ("二つの村は何年に合併しましたか？", "二つの村は1740年から教会を、1868年から学校を共にしました。1923年、投票のあとで合併しました。"),
    ("サッカークラブの愛称は何ですか？", "サッカークラブは港の労働者が作りました。町の紋章にちなんで、愛称は青鷺です。競技場には12000人が入れます。"),
    ("絵のある洞窟を発見したのは誰ですか？", "絵のある洞窟は1940年、犬を探していた四人の少年が発見しました。学者として最初に記録したのは神父のルカ・アミエルです。"),
    ("図書館の建設費はいくらでしたか？", "市は新しい図書館に18億円をかける予定でした。実際の建設費は27億円で、三分の一は寄付でした。"),
    ("1850年の硬貨にはどの動物が描かれていますか？", "1820年の硬貨には馬が、1850年の硬貨には熊が描かれています。どちらも裏には王の顔があります。"),
    ("条約はどこで調印されましたか？", "話し合いはジュネーブで始まり、ウィーンで続きました。条約はトリエステの近くの列車の中で調印されました。"),
    ("作曲家は子供のころ何の楽器を弾きましたか？", "作曲家は子供のころ、叔父の楽団でヴィオラを弾きました。ピアノは19歳で習いました。"),
    ("鉄道はなぜ完成しなかったのですか？", "鉄道は戦争の前に40キロメートルまで造られました。金を出していた銀行が1931年に倒産したため、完成しませんでした。"),
    ("その山に初めて登った女性は誰ですか？", "その山には1865年に二人の兄弟が初めて登りました。女性で初めて登ったのは六年後の堀田律子です。"),
    ("湖の上の段々畑では何が育ちますか？", "湖の上の段々畑では、石垣に守られて檸檬が育ちます。岸の畑は水が多く、米しか作れません。"),
    ("この群島にはいくつの島がありますか？", "この群島には63の島があり、そのうち11の島に人が住んでいます。一番大きな島は本土とトンネルでつながっています。"),
    ("製粉所の蒸気機関は何に替わりましたか？", "製粉所は初め水で、1852年からは蒸気機関で動きました。1910年に蒸気機関は電動機に替わりました。"),
    ("控訴を審理したのはどの裁判所ですか？", "地方裁判所は船長を有罪としました。控訴を審理した海事裁判所は、一週間で船長を自由にしました。"),
    ("塩の鉱山には何が保管されていますか？", "塩の鉱山は1989年から空でした。空気が乾いていて涼しいので、今は国の映画フィルムが保管されています。"),
    ("宮殿の庭を設計したのは誰ですか？", "宮殿はイタリアの建築家が建てました。庭は京都で学んだ銀林よし子が設計し、植えるのに11年かかりました。"),
    ("旧市街の店は何時に閉まりますか？", "旧市街の店は10時に開き、6時半に閉まります。屋根のある市場は9時まで開いています。"),
    ("その祭りはどの季節に行われますか？", "その祭りは秋に行われます。春には花の市が、冬には雪の像の競技があります。"),
]
