/** Pairs in Malay, Russian, Chinese, Japanese, Korean, Arabic, Hindi, Vietnamese, Hebrew, Polish, Turkish and Thai. */
export const east = `
# ms
= Saya suka teh hijau | Saya sangat suka teh hijau
= Majlis itu pada 5 Mac 2027 | Majlis itu pada 2027-03-05
= Saya ada tiga kucing | Saya ada 3 kucing
= Tolong jawab dengan ringkas | Jawab dengan ringkas
= Setiap hari saya berlari | Saya berlari setiap hari
= Kucing saya bernama Comel | kucing saya bernama Comel!
= Saya tinggal di Kuching | Saya menetap di Kuching
= Eksport pada 640×480 | Eksport pada 640 x 480
= Pengguna bekerja di hospital | pengguna bekerja di hospital.
= Saya gemar membaca | Saya suka membaca
~ Pelanggan saya dari Johor | Pelanggan baru saya dari Johor
~ Kakak saya bernama Ana | Anak saya bernama Ana
~ Saya bekerja di Kedah | Saya bekerja di Perlis
~ Warna kegemaran saya biru | Warna kegemaran saya hijau
~ Saya bermain gitar | Saya bermain piano
~ Hantar invois | Hantar invois hanya jika saya minta
~ Logo itu ada singa | Logo itu ada singa dan mahkota
~ Guna versi A untuk Kim | Guna versi B untuk Kim
~ Saya ada kereta merah | Saya ada kereta merah lama
~ Saya tukang masak | Saya bekas tukang masak
! Saya makan daging | Saya tidak makan daging
! Guna penapis | Usah guna penapis
! Letak logo di kiri | Letak logo di kanan
! Saya merokok | Saya berhenti merokok
! Mesyuarat pada hari Isnin | Mesyuarat pada hari Selasa
! Telefon saya sebelum raya | Telefon saya selepas raya
! Saya suka jazz | Saya benci jazz
! Tambah bayang | Elakkan bayang
! Saya selalu guna penapis | Saya tidak pernah guna penapis
! Saya ada dua adik | Saya ada empat adik
# ru
= Я люблю зелёный чай | Я очень люблю зеленый чай
= Открытие 5 марта 2027 года | Открытие 2027-03-05
= У меня три кошки | У меня 3 кошки
= Пожалуйста, отвечай кратко | Отвечай кратко
= Каждый день я бегаю | Я бегаю каждый день
= Мою собаку зовут Рекс | мою собаку зовут Рекс!
= Я живу в Туле | Я проживаю в Туле
= Экспортируй в 640×480 | Экспортируй в 640 x 480
= Мне нравится рисовать | Мне очень нравится рисовать
= Я работаю в больнице | Я работаю в больнице.
~ Мои клиенты из Перми | Мои новые клиенты из Перми
~ Мою сестру зовут Аня | Мою дочь зовут Аня
~ Я работаю в Омске | Я работаю в Томске
~ Я был поваром | Я повар
~ Мой любимый цвет синий | Мой любимый цвет зелёный
~ Я играю на скрипке | Я играю на пианино
~ Пришли счёт | Пришли счёт только если я попрошу
~ На логотипе лев | На логотипе лев и корона
~ Используй версию А для Кима | Используй версию Б для Кима
~ У меня красная машина | У меня старая красная машина
! Я ем мясо | Я не ем мясо
! Помести логотип слева | Помести логотип справа
! Я курю | Я бросил курить
! Встреча в понедельник | Встреча во вторник
! Позвони до Рождества | Позвони после Рождества
! Я люблю джаз | Я ненавижу джаз
! Добавь тени | Избегай теней
! Я всегда использую фильтры | Я никогда не использую фильтры
! Мне нужны тёплые цвета | Мне нужны холодные цвета
! Мне нужен договор | Мне больше не нужен договор
# zh
= 我喜欢绿茶 | 我很喜欢绿茶
= 我喜歡貓 | 我喜欢猫
= 展览在2027年3月5日 | 展览在2027-03-05
= 我有三只猫 | 我有3只猫
= 请用中文回答 | 用中文回答
= 我住在成都 | 我居住在成都
= 每天我跑步 | 我每天跑步
= 請使用透明背景 | 请使用透明背景
= 用户在医院工作 | 我在医院工作
= 导出为640×480 | 导出为640 x 480
~ 我的客户在杭州 | 我的女客户在杭州
~ 我姐姐叫小雨 | 我女儿叫小雨
~ 我在厦门工作 | 我在南京工作
~ 我以前是厨师 | 我是厨师
~ 我最喜欢的颜色是蓝色 | 我最喜欢的颜色是绿色
~ 我弹钢琴 | 我弹吉他
~ 发送发票 | 只在我要求时发送发票
~ 标志上有狮子 | 标志上有狮子和皇冠
~ 给小明用版本A | 给小明用版本B
~ 我有一辆红色的车 | 我有一辆红色的旧车
! 我吃肉 | 我不再吃肉
! 把标志放在左边 | 把标志放在右边
! 我抽烟 | 我戒烟了
! 会议在星期一 | 会议在星期二
! 圣诞节之前给我打电话 | 圣诞节之后给我打电话
! 我喜欢爵士乐 | 我讨厌爵士乐
! 允许使用滤镜 | 禁止使用滤镜
! 我总是用滤镜 | 我从不用滤镜
! 使用暖色 | 使用冷色
! 添加阴影 | 避免阴影
# ja
= 緑茶が好きです | 緑茶がとても好きです
= 展覧会は2027年3月5日です | 展覧会は2027-03-05です
= 猫を三匹飼っています | 猫を3匹飼っています
= 日本語で答えてください | 日本語で答えて
= 私は京都に住んでいます | 京都に住んでいます
= 毎日私は走ります | 私は毎日走ります
= 犬の名前はポチです | 犬の名前はポチです。
= 病院で働いています | 病院で働いています！
= ユーザーは絵本が好き | 私は絵本が好き
= 640×480で書き出す | 640 x 480で書き出す
~ 私の客は大阪にいます | 私の女性客は大阪にいます
~ 姉の名前はあおいです | 娘の名前はあおいです
~ 名古屋で働いています | 福岡で働いています
~ 料理人でした | 料理人です
~ 好きな色は青です | 好きな色は緑です
~ ピアノを弾きます | ギターを弾きます
~ 請求書を送って | 頼んだときだけ請求書を送って
~ ロゴには獅子がいます | ロゴには獅子と王冠があります
~ ケンにはA版を使う | ケンにはB版を使う
~ 赤い車を持っています | 古い赤い車を持っています
! フィルターを使う | フィルターを使うな
! 砂糖を入れて | 砂糖を入れずに
! ロゴを左に置く | ロゴを右に置く
! タバコを吸います | タバコをやめました
! 会議は月曜日です | 会議は火曜日です
! クリスマスの前に電話して | クリスマスの後に電話して
! ジャズが好き | ジャズが嫌い
! 肉を食べます | 肉を食べません
! 暖色を使う | 寒色を使う
! 犬が猫を追う | 猫が犬を追う
# ko
= 나는 고양이를 좋아한다 | 고양이를 좋아해요
= 전시회는 2027년 3월 5일이다 | 전시회는 2027-03-05이다
= 고양이 세 마리를 키워요 | 고양이 3 마리를 키워요
= 한국어로 대답하세요 | 한국어로 대답해 주세요
= 저는 부산에 살아요 | 저는 부산에 살아요!
= 매일 저는 달려요 | 저는 매일 달려요
= 제 개의 이름은 초코예요 | 제 개의 이름은 초코예요.
= 저는 녹차를 좋아합니다 | 저는 녹차를 아주 좋아합니다
= 흰색 배경을 사용한다 | 흰색 배경을 사용합니다
= 640×480으로 내보내기 | 640 x 480으로 내보내기
~ 제 고객은 대구에 있어요 | 제 여성 고객은 대구에 있어요
~ 제 누나 이름은 하늘이에요 | 제 딸 이름은 하늘이에요
~ 저는 인천에서 일해요 | 저는 대전에서 일해요
~ 저는 요리사였어요 | 저는 요리사예요
~ 제가 좋아하는 색은 파랑이에요 | 제가 좋아하는 색은 초록이에요
~ 저는 피아노를 쳐요 | 저는 기타를 쳐요
~ 청구서를 보내세요 | 부탁할 때만 청구서를 보내세요
~ 로고에 사자가 있어요 | 로고에 사자와 왕관이 있어요
~ 민수에게 A 버전을 사용해요 | 민수에게 B 버전을 사용해요
~ 빨간 차가 있어요 | 오래된 빨간 차가 있어요
! 흰색 배경을 사용하세요 | 흰색 배경을 사용하지 마세요
! 로고를 넣어 주세요 | 로고를 넣지 말아 주세요
! 로고를 왼쪽에 두세요 | 로고를 오른쪽에 두세요
! 저는 담배를 피워요 | 저는 담배를 끊었어요
! 회의는 월요일이에요 | 회의는 화요일이에요
! 크리스마스 전에 전화해요 | 크리스마스 후에 전화해요
! 재즈를 좋아해요 | 재즈를 싫어해요
! 고기를 먹어요 | 고기를 안 먹어요
! 개가 고양이를 쫓는다 | 개를 고양이가 쫓는다
! 필터를 사용해요 | 필터를 사용하지 않아요
# ar
= أحب الشاي الأخضر | أحب الشاي الأخضر جدا
= المعرض في 5 مارس 2027 | المعرض في 2027-03-05
= عندي ثلاث قطط | عندي 3 قطط
= من فضلك أجب باختصار | أجب باختصار
= كل يوم أركض | أركض كل يوم
= أنا أعيش في عمان | أعيش في عمان
= أسكن في طنجة | أعيش في طنجة
= أُحِبُّ القهوة | أحب القهوة
= أعمل في مستشفى | أعمل في مستشفى!
= صدّر بحجم 640×480 | صدر بحجم 640 x 480
~ عملائي من دبي | عملائي الجدد من دبي
~ أختي اسمها نور | ابنتي اسمها نور
~ أعمل في جدة | أعمل في مكة
~ كنت طباخا | أنا طباخ
~ لوني المفضل هو الأزرق | لوني المفضل هو الأخضر
~ أعزف على العود | أعزف على البيانو
~ أرسل الفاتورة | أرسل الفاتورة فقط إذا طلبتها
~ في الشعار أسد | في الشعار أسد وتاج
~ استخدم النسخة الأولى لسامي | استخدم النسخة الثانية لسامي
~ لدي سيارة حمراء | لدي سيارة حمراء قديمة
! أريد دائما خلفية بيضاء لصور المنتجات | لا أريد دائما خلفية بيضاء لصور المنتجات
! استخدم المرشحات | لا تستخدم المرشحات
! ضع الشعار على اليسار | ضع الشعار على اليمين
! أدخن | أقلعت عن التدخين
! الاجتماع يوم الاثنين | الاجتماع يوم الثلاثاء
! اتصل بي قبل العيد | اتصل بي بعد العيد
! أحب الجاز | أكره الجاز
! أضف الظلال | تجنب الظلال
! عندي خمسة إخوة | عندي ستة إخوة
! آكل اللحم | لم أعد آكل اللحم
# hi
= मुझे हरी चाय पसंद है | मुझे हरी चाय बहुत पसंद है
= प्रदर्शनी 5 मार्च 2027 को है | प्रदर्शनी 2027-03-05 को है
= मेरे पास तीन बिल्लियाँ हैं | मेरे पास 3 बिल्लियाँ हैं
= कृपया संक्षिप्त जवाब दें | संक्षिप्त जवाब दें
= हर दिन मैं दौड़ता हूँ | मैं हर दिन दौड़ता हूँ
= मैं जयपुर में रहता हूँ | मैं जयपुर में रहता हूँ।
= मेरे कुत्ते का नाम शेरू है | मेरे कुत्ते का नाम शेरू है!
= मैं अस्पताल में काम करती हूँ | मैं अस्पताल में काम करती हूं
= संक्षिप्त उत्तर दें | संक्षिप्त जवाब दें
= 640×480 में निर्यात करो | 640 x 480 में निर्यात करो
~ मेरे ग्राहक दिल्ली से हैं | मेरे नए ग्राहक दिल्ली से हैं
~ मेरी बहन का नाम रिया है | मेरी बेटी का नाम रिया है
~ मैं पुणे में काम करता हूँ | मैं नागपुर में काम करता हूँ
~ मैं रसोइया था | मैं रसोइया हूँ
~ मेरा पसंदीदा रंग नीला है | मेरा पसंदीदा रंग हरा है
~ मैं सितार बजाता हूँ | मैं गिटार बजाता हूँ
~ बिल भेजो | बिल केवल तब भेजो जब मैं कहूँ
~ लोगो में शेर है | लोगो में शेर और मुकुट है
~ रवि के लिए पहला संस्करण | रवि के लिए दूसरा संस्करण
~ मेरे पास लाल गाड़ी है | मेरे पास पुरानी लाल गाड़ी है
! मैं मांस खाता हूँ | मैं मांस नहीं खाता हूँ
! छाया जोड़ो | छाया मत जोड़ो
! लोगो बाएं रखो | लोगो दाएं रखो
! चीनी के साथ चाय | चीनी के बिना चाय
! बैठक सोमवार को है | बैठक मंगलवार को है
! दिवाली से पहले फोन करो | दिवाली के बाद फोन करो
! मुझे जैज़ पसंद है | मुझे जैज़ से नफरत है
! मेरे दो भाई हैं | मेरे तीन भाई हैं
! मैं हमेशा फ़िल्टर लगाता हूँ | मैं कभी फ़िल्टर नहीं लगाता हूँ
! मैं सिगरेट पीता हूँ | मैंने सिगरेट छोड़ दी
# vi
= Tôi thích trà xanh | Tôi rất thích trà xanh
= Tôi có ba con mèo | Tôi có 3 con mèo
= Vui lòng trả lời ngắn gọn | Trả lời ngắn gọn
= Mỗi ngày tôi chạy bộ | Tôi chạy bộ mỗi ngày
= Tôi sống ở Huế | Tôi sinh sống ở Huế
= Con chó của tôi tên là Vàng | con chó của tôi tên là Vàng!
= Tôi làm việc ở bệnh viện | Tôi làm việc ở bệnh viện.
= Xuất ở 640×480 | Xuất ở 640 x 480
= Người dùng thích phim hài | Tôi thích phim hài
= Tôi yêu biển | Tôi thích biển
~ Khách hàng của tôi ở Hà Nội | Khách hàng nữ của tôi ở Hà Nội
~ Chị gái tôi tên là Lan | Con gái tôi tên là Lan
~ Tôi làm việc ở Vinh | Tôi làm việc ở Cần Thơ
~ Tôi từng là đầu bếp | Tôi là đầu bếp
~ Màu yêu thích của tôi là xanh | Màu yêu thích của tôi là đỏ
~ Tôi chơi đàn tranh | Tôi chơi đàn bầu
~ Gửi hóa đơn | Chỉ gửi hóa đơn khi tôi yêu cầu
~ Logo có con sư tử | Logo có con sư tử và vương miện
~ Dùng bản A cho Minh | Dùng bản B cho Minh
~ Tôi có xe màu đỏ | Tôi có xe cũ màu đỏ
! Tôi luôn muốn nền trắng cho ảnh sản phẩm | Tôi không muốn nền trắng cho ảnh sản phẩm
! Tôi ăn thịt | Tôi không ăn thịt
! Đặt logo bên trái | Đặt logo bên phải
! Tôi hút thuốc | Tôi đã bỏ hút thuốc
! Họp vào thứ hai | Họp vào thứ ba
! Gọi tôi trước Tết | Gọi tôi sau Tết
! Tôi thích nhạc jazz | Tôi ghét nhạc jazz
! Thêm bóng đổ | Tránh bóng đổ
! Dùng bộ lọc | Đừng dùng bộ lọc
! Tôi có hai anh trai | Tôi có bốn anh trai
# he
= אני אוהב תה ירוק | אני מאוד אוהב תה ירוק
= התערוכה ב 5 מרץ 2027 | התערוכה ב 2027-03-05
= יש לי שלושה חתולים | יש לי 3 חתולים
= בבקשה ענה בקצרה | ענה בקצרה
= כל יום אני רץ | אני רץ כל יום
= אני גר בחיפה | אני מתגורר בחיפה
= לכלב שלי קוראים רקס | לכלב שלי קוראים רקס!
= אני עובדת בבית חולים | אני עובדת בבית חולים.
= שָׁלוֹם הוא שם הכלב | שלום הוא שם הכלב
= ייצא בגודל 640×480 | ייצא בגודל 640 x 480
~ הלקוחות שלי מאילת | הלקוחות החדשים שלי מאילת
~ לאחותי קוראים נועה | לבתי קוראים נועה
~ אני עובד בנתניה | אני עובד באשדוד
~ הייתי טבח | אני טבח
~ הצבע האהוב עלי הוא כחול | הצבע האהוב עלי הוא ירוק
~ אני מנגן בכינור | אני מנגן בפסנתר
~ שלח את החשבונית | שלח את החשבונית רק אם אבקש
~ בלוגו יש אריה | בלוגו יש אריה וכתר
~ השתמש בגרסה הראשונה לדן | השתמש בגרסה השנייה לדן
~ יש לי מכונית אדומה | יש לי מכונית אדומה ישנה
! אני תמיד רוצה רקע לבן לתמונות של מוצרים | אני לא רוצה רקע לבן לתמונות של מוצרים
! אני אוכל בשר | אני לא אוכל בשר
! שים את הלוגו משמאל | שים את הלוגו מימין
! אני מעשן | הפסקתי לעשן
! הפגישה ביום שני | הפגישה ביום שלישי
! התקשר לפני החג | התקשר אחרי החג
! אני אוהב ג'אז | אני שונא ג'אז
! קפה עם סוכר | קפה בלי סוכר
! יש לי שני אחים | יש לי ארבעה אחים
! הוסף צללים | אל תוסיף צללים
# pl
= Lubię zieloną herbatę | Bardzo lubię zieloną herbatę
= Wystawa jest 5 marca 2027 | Wystawa jest 2027-03-05
= Mam trzy koty | Mam 3 koty
= Proszę odpowiadaj krótko | Odpowiadaj krótko
= Codziennie biegam | Biegam codziennie
= Mój pies wabi się Reks | mój pies wabi się Reks!
= Mieszkam w Gdyni | Ja mieszkam w Gdyni
= Pracuję w szpitalu | Pracuję w szpitalu.
= Uwielbiam jeziora | Lubię jeziora
= Eksportuj w 640×480 | Eksportuj w 640 x 480
~ Moi klienci są z Łodzi | Moi nowi klienci są z Łodzi
~ Moja siostra ma na imię Ola | Moja córka ma na imię Ola
~ Pracuję w Toruniu | Pracuję w Opolu
~ Byłem kucharzem | Jestem kucharzem
~ Mój ulubiony kolor to niebieski | Mój ulubiony kolor to zielony
~ Gram na skrzypcach | Gram na pianinie
~ Wyślij fakturę | Wyślij fakturę tylko jeśli poproszę
~ Logo ma lwa | Logo ma lwa i koronę
~ Użyj wersji A dla Kima | Użyj wersji B dla Kima
~ Mam czerwony samochód | Mam stary czerwony samochód
! Jem mięso | Nie jem mięsa
! Umieść logo po lewej | Umieść logo po prawej
! Palę papierosy | Rzuciłem palenie papierosów
! Spotkanie jest w poniedziałek | Spotkanie jest we wtorek
! Zadzwoń przed świętami | Zadzwoń po świętach
! Lubię jazz | Nienawidzę jazzu
! Dodaj cienie | Unikaj cieni
! Zawsze używam filtrów | Nigdy nie używam filtrów
! Piję kawę z cukrem | Piję kawę bez cukru
! Mam dwóch braci | Mam czterech braci
# tr
= Yeşil çayı severim | Yeşil çayı çok severim
= Sergi 5 Mart 2027 | Sergi 2027-03-05
= Üç kedim var | 3 kedim var
= Lütfen kısa cevap ver | Kısa cevap ver
= Her gün koşarım | Koşarım her gün
= Ben İzmir'de yaşıyorum | İzmir'de yaşıyorum
= Köpeğimin adı Karabaş | köpeğimin adı Karabaş!
= Hastanede çalışıyorum | Hastanede çalışıyorum.
= Denizi seviyorum | Denizi severim
= 640×480 olarak aktar | 640 x 480 olarak aktar
~ Müşterilerim Bursa'dan | Yeni müşterilerim Bursa'dan
~ Ablamın adı Elif | Kızımın adı Elif
~ Ankara'da çalışıyorum | Konya'da çalışıyorum
~ Eskiden aşçıydım | Aşçıyım
~ En sevdiğim renk mavi | En sevdiğim renk yeşil
~ Keman çalarım | Piyano çalarım
~ Faturayı gönder | Faturayı sadece istersem gönder
~ Logoda aslan var | Logoda aslan ve taç var
~ Kim için A sürümünü kullan | Kim için B sürümünü kullan
~ Kırmızı arabam var | Eski kırmızı arabam var
! Filtre kullan | Filtre kullanma
! Et yiyorum | Et yemiyorum
! Logoyu sola koy | Logoyu sağa koy
! Sigara içiyorum | Sigarayı bıraktım
! Toplantı pazartesi günü | Toplantı salı günü
! Bayramdan önce ara | Bayramdan sonra ara
! Cazı severim | Cazdan nefret ederim
! Şekerli kahve içerim | Şekersiz kahve içerim
! Her zaman filtre kullanırım | Asla filtre kullanmam
! İki kardeşim var | Dört kardeşim var
# th
= ฉันชอบชาเขียว | ฉันชอบชาเขียวมาก
= ฉันมีแมวสามตัว | ฉันมีแมว 3 ตัว
= กรุณาตอบสั้น | ตอบสั้น
= ฉันอาศัยอยู่ที่เชียงใหม่ | ฉันอาศัยอยู่ที่เชียงใหม่ค่ะ
= ทุกวันฉันวิ่ง | ฉันวิ่งทุกวัน
= หมาของฉันชื่อดำ | หมาของฉันชื่อดำครับ
= ผมทำงานในโรงพยาบาล | ฉันทำงานในโรงพยาบาล
= ส่งออกที่ 640×480 | ส่งออกที่ 640 x 480
= ผู้ใช้ชอบหนังตลก | ฉันชอบหนังตลก
= ฉันรักทะเล | ฉันชอบทะเล
~ ลูกค้าของฉันอยู่ที่ตรัง | ลูกค้าใหม่ของฉันอยู่ที่ตรัง
~ พี่สาวของฉันชื่อฝน | ลูกสาวของฉันชื่อฝน
~ ฉันทำงานที่ตาก | ฉันทำงานที่น่าน
~ ฉันเคยเป็นพ่อครัว | ฉันเป็นพ่อครัว
~ สีโปรดของฉันคือสีฟ้า | สีโปรดของฉันคือสีเขียว
~ ฉันเล่นเปียโน | ฉันเล่นกีตาร์
~ ส่งใบแจ้งหนี้ | ส่งใบแจ้งหนี้เฉพาะเมื่อฉันขอ
~ โลโก้มีสิงโต | โลโก้มีสิงโตและมงกุฎ
~ ใช้เวอร์ชัน A สำหรับคิม | ใช้เวอร์ชัน B สำหรับคิม
~ ฉันมีรถสีแดง | ฉันมีรถเก่าสีแดง
! ฉันกินเนื้อ | ฉันไม่กินเนื้อ
! วางโลโก้ทางซ้าย | วางโลโก้ทางขวา
! ฉันสูบบุหรี่ | ฉันเลิกสูบบุหรี่
! ประชุมวันจันทร์ | ประชุมวันอังคาร
! โทรหาฉันก่อนปีใหม่ | โทรหาฉันหลังปีใหม่
! ฉันชอบแจ๊ส | ฉันเกลียดแจ๊ส
! เพิ่มเงา | อย่าเพิ่มเงา
! ใช้ฟิลเตอร์ | ห้ามใช้ฟิลเตอร์
! ใช้สีร้อน | ใช้สีเย็น
! ฉันมีพี่สองคน | ฉันมีพี่สี่คน
`;
