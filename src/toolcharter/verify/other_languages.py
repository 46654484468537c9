# ruff: noqa: RUF001 - letters of other alphabets are what this is about
"""Orders that manipulate an agent, in other languages than English."""

from toolcharter.verify.text_patterns import pattern

IGNORE_INSTRUCTIONS = (
    pattern(  # German
        "anweisung|regel|vorgabe|instruktion|richtlinie",
        r"\b(ignorier\w*|vergiss|vergesst|missachte\w*|beachte)\b[^.!?]{0,40}\b(bisherig|vorherig|früher|obig|vorig|"
        r"vorangeg|ursprünglich)\w* (\w+ )?(anweisung|regel|vorgabe|instruktion|richtlinie)\w*",
    ),
    pattern(  # French
        "instructions|consignes|règles|directives",
        r"\b(ignore[zr]?|oublie[zr]?)\b[^.!?]{0,30}\b(instructions|consignes|règles|directives) "
        r"(précédent|antérieur|initial)\w*",
    ),
    pattern(  # Spanish
        "instrucciones|reglas|indicaciones|órdenes",
        r"\b(ignora|ignore|olvida|olvide|descarta)\b[^.!?]{0,30}\b(instrucciones|reglas|indicaciones|órdenes) "
        r"(anterior|previa)\w*",
    ),
    pattern(  # Italian
        "istruzioni|regole|indicazioni",
        r"\b(ignora|ignorate|dimentica|scorda)\b[^.!?]{0,30}\b(istruzioni|regole|indicazioni) (precedent|anterior)\w*",
    ),
    pattern(  # Portuguese
        "instruções|regras|ordens",
        r"\b(ignore|ignora|esqueça|desconsidere)\b[^.!?]{0,30}\b(instruções|regras|ordens) (anterior|prévi)\w*",
    ),
    pattern(  # Dutch
        "instructies|regels|opdrachten",
        r"\b(negeer|vergeet)\b[^.!?]{0,20}\b(eerdere|vorige|voorgaande|bovenstaande) (instructies|regels|opdrachten)",
    ),
    pattern(  # Polish
        "instrukcj|zasad|polece",
        r"\b(zignoruj|ignoruj|zapomnij)\b[^.!?]{0,30}\b(poprzedni|wcześniejsz)\w* (instrukcj|zasad|polece)\w*",
    ),
    pattern(  # Turkish
        "talimat|kural|komut",
        r"\bönceki\b[^.!?]{0,20}\b(talimat|kural|komut)\w*[^.!?]{0,20}\b(yok say|unut|görmezden gel)\w*",
    ),
    pattern(  # Russian
        "инструкц|правил|указани",
        r"(игнорируй|игнорируйте|забудь|забудьте|отбрось)[^.!?]{0,30}(предыдущ|прежни|ранн|прошл)\w* "
        r"(инструкц|правил|указани)",
    ),
    pattern(  # Chinese
        "指令|指示|规则|規則|命令|要求",
        r"(忽略|无视|忘记|忘掉|無視|不要理会)[^。！？]{0,8}(之前|以前|先前|前面|以上|此前|原有|上面)[^。！？]{0,6}"
        r"(指令|指示|规则|規則|命令|要求)",
    ),
    pattern(  # Japanese
        "指示|命令|規則|ルール",
        r"(以前|これまで|前|今まで|上記)の?[^。！？]{0,8}(指示|命令|規則|ルール)[^。！？]{0,8}(無視|忘れ)",
    ),
    pattern("지시|명령|규칙|지침", r"(이전|앞|기존)[^.!?]{0,10}(지시|명령|규칙|지침)[^.!?]{0,10}(무시|잊)"),  # Korean
)
"""Ignore or forget the earlier instructions."""

HIDE_FROM_USER = (
    pattern(  # German
        "nutzer|anwender|erwähne",
        r"\b(sag|sage|sagen sie|verrate|erzähle?|teile) (dem|der) (be)?nutzer\b[^.!?]{0,30}\bnicht"
        r"|\b((be)?nutzer|anwender)\b[^.!?]{0,20}\b(nichts?|nie|niemals)\b[^.!?]{0,20}\b(erfahren|wissen|sagen|"
        r"mitteilen|merken|erwähnen|informieren)|\berwähne [^.!?]{1,60}\bnicht\b",
    ),
    pattern(  # French
        "utilisateur",
        r"\bn(e |')[^.!?]{0,10}?(dites?|dis|mentionne[zr]?|informe[zr]?|parle[zr]?|révèle[zr]?)\b[^.!?]{0,30}"
        r"\b(à l'|l')utilisateur",
    ),
    pattern(  # Spanish
        "usuario",
        r"\bno (le |se lo |lo )?(digas?|informes?|menciones?|cuentes?|reveles?)\b[^.!?]{0,30}\bal? usuario",
    ),
    pattern(  # Italian
        "utente",
        r"\bnon (dir\w*|menzionar\w*|informar\w*|rivelar\w*|parlar\w*)\b[^.!?]{0,30}\b(all'|l')utente",
    ),
    pattern(  # Portuguese
        "usuário|utilizador",
        r"\bnão (o |lhe )?(cont|dig|mencion|inform|revel)\w+\b[^.!?]{0,30}\b(ao|o) (usuário|utilizador)",
    ),
    pattern(  # Dutch
        "gebruiker",
        r"\b(zeg|vertel|meld)\b[^.!?]{0,30}\bgebruiker\b[^.!?]{0,20}\bniets?\b"
        r"|\b(zeg|vertel|meld)\b[^.!?]{0,20}\bniets?\b[^.!?]{0,20}\bgebruiker\b",
    ),
    pattern("użytkownik", r"\bnie (mów|informuj|wspominaj)\b[^.!?]{0,30}\bużytkownik\w+"),  # Polish
    pattern("kullanıcı", r"\bkullanıcı(ya|yı)\b[^.!?]{0,20}\b(söyleme|bildirme|bahsetme)"),  # Turkish
    pattern(  # Russian
        "пользовател", r"не (говори|сообщай|рассказывай|упоминай)\w*\b[^.!?]{0,30}\bпользовател"
    ),
    pattern(  # Chinese
        "用户|用戶",
        r"(不要|别|切勿|勿|请勿|不得)(告诉|告知|通知|提及|让|向|跟)[^。！？]{0,4}(用户|用戶)"
        r"|(用户|用戶)(不能|不得|不应|无需)(知道|得知)",
    ),
    pattern("ユーザー", r"ユーザー(に|には|へ)[^。！？]{0,6}(言わ|伝え|知らせ|報告し|教え)ない"),  # Japanese
    pattern("사용자", r"사용자(에게|한테)[^.!?]{0,8}(말하지|알리지|언급하지|보고하지) (마|않)"),  # Korean
)
"""Do not tell the user."""

CALL_FIRST = (
    pattern(
        "任何其他工具|werkzeug|tool|zuerst immer|immer zuerst|herramienta|outil|инструмент|strumento|ferramenta",
        r"任何其他工具之?前|vor jedem (anderen )?(werkzeug|tool)|(zuerst immer|immer zuerst)[^.!?]{0,40}"
        r"(aufrufen|verwenden|nutzen|ausführen)|antes de (usar |llamar )?(cualquier|toda) (otra )?herramienta"
        r"|avant (d'utiliser |d'appeler )?tout autre outil|(перед|прежде)[^.]{0,20} (любым|каждым) (другим )?"
        r"инструментом|prima di (ogni|qualsiasi) (altro )?strumento|antes de qualquer (outra )?ferramenta",
    ),
)
"""Call this tool before all others."""

HAND_OVER_SECRETS = (
    pattern(
        "umgebungsvariablen|passwörter|contraseñas|mots de passe|senhas|парол|密码",
        r"\b(übergib|sende|schicke)\b[^.!?]{0,40}(passwörter|umgebungsvariablen)"
        r"|(passwörter|umgebungsvariablen)[^.!?]{0,20}\b(übergeben|senden|schicken|mitgeben)"
        r"|\b(envía|manda|pasa)\b[^.!?]{0,30}contraseñas|\b(envoie|transmets)\b[^.!?]{0,30}mots de passe"
        r"|\b(envie|mande)\b[^.!?]{0,30}senhas|(отправь|передай)[^.!?]{0,30}парол|(发送|提供)[^。]{0,8}密码",
    ),
)
"""Pass on passwords or the environment."""
